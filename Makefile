# Every command of the project; `make help` lists them.
PYTHON ?= python3
BIN := .venv/bin
export PATH := $(CURDIR)/$(BIN):$(PATH)
export OMP_NUM_THREADS := 1
RUN := $(BIN)/python -m book.pipeline

.DEFAULT_GOAL := help
.PHONY: help book lab site serve page new sync prove check test test-core test-torch test-cpu test-cuda bench upstream lock pins setup-site setup-full

help: ## list the commands
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

book: site serve ## set up, build and serve the site on this machine

site: setup-site ## build the site into _build/html (no torch needed)
	@$(RUN).site

serve:
	@$(RUN).serve $(if $(PORT),--port $(PORT))

page: setup-full ## one page while it is written: PAGE=05-compile/fusion; EXECUTE=1 runs changed cells; PORT=8010
	@$(if $(PAGE),,$(error page: say which, as in PAGE=05-compile/fusion))
	@$(RUN).page $(PAGE) $(if $(EXECUTE),--execute) $(if $(PORT),--port $(PORT))

READS := zh en both
lab: ## read and run the notebooks in JupyterLab: READ=zh, en or both; PORT=8889
	@$(if $(or $(filter-out $(READS),$(READ)),$(word 2,$(READ))),$(error lab: READ=$(READ) is none of: $(READS)))
	@$(PYTHON) book/pipeline/environment.py lab
	@$(RUN).lab $(if $(READ),--read $(READ)) $(if $(PORT),--port $(PORT))

new: setup-full ## begin one: make new CHAPTER=06-memory, make new SECTION=06-memory/allocator
	@$(if $(or $(and $(CHAPTER),$(SECTION)),$(if $(CHAPTER)$(SECTION),,none)),$(error new: give either CHAPTER=06-memory or SECTION=06-memory/allocator))
	@$(RUN).new $(if $(CHAPTER),chapter '$(CHAPTER)',section '$(SECTION)')

sync: setup-full ## execute and rehearse sections that changed and write their notebooks (FORCE=1: all)
	@$(RUN).sync $(if $(FORCE),--force)
	@$(BIN)/python -m tests.specimen.renew

prove: setup-full ## run the proofs of cards that changed and write their results (FORCE=1: all)
	@$(RUN).prove $(if $(FORCE),--all)

check: setup-full ## before every commit: lint, staleness, what changed; ONLY=desk: these steps
	@$(BIN)/python -m book.pipeline.checks quick

test: setup-full ## what changed since it passed (FRESH=1: all; DRY=1: list it; DEPTH=20: more random cases)
	@$(BIN)/python -m book.pipeline.checks all

test-core: setup-full ## everything that needs no browser and no compiler
	@$(BIN)/python -m book.pipeline.checks core

test-torch: setup-full ## all notebooks and proofs with another torch: make test-torch TORCH=2.11.0
	@$(RUN).other_torch $(TORCH) $(if $(RECORD),--record)

test-cpu: setup-full ## all notebooks and proofs without AVX-512 and on two threads (THREADS=1: on one)
	@$(RUN).other_cpu $(if $(THREADS),--threads $(THREADS))

# Not the .venv that is put first above: this runs in the environment it is called from.
test-cuda: export PATH := $(patsubst $(CURDIR)/$(BIN):%,%,$(PATH))
test-cuda: ## all notebooks and proofs on a GPU, with PYTHON as it is; without a GPU: DEVICE=rehearsal
	@$(PYTHON) -m book.pipeline.cuda_run $(if $(DEVICE),--device $(DEVICE)) $(if $(RECORD),--record)

bench: setup-full ## measure what the book prints; ONLY=pages; RECORD=1 stores; STALE=1 renews what is old; LIST=1: how long?
	@$(RUN).bench $(if $(ONLY),--only $(ONLY)) $(if $(RECORD),--record) $(if $(STALE),--stale) $(if $(LIST),--list)

upstream: setup-full ## PyTorch's own tests on companions: CHECKOUT=path; ONLY=dynamo, compile, module, layers, index; RECORD=1
	@$(BIN)/python -m benchmarks.upstream --checkout '$(CHECKOUT)' $(if $(ONLY),--only $(ONLY)) $(if $(RECORD),--record) $(NAMES)

lock: setup-full ## write the exact versions that are installed to constraints.txt
	@$(BIN)/python -m pip freeze --exclude-editable | sed -E 's/\+cpu$$//' > constraints.txt

pins: setup-full ## has every pinned package a wheel for Python 3.12 to 3.14? asks the package index
	@$(RUN).pins

setup-site:
	@$(PYTHON) book/pipeline/environment.py site

setup-full:
	@$(PYTHON) book/pipeline/environment.py full
