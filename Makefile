# Every command of the project; `make help` lists them.
PYTHON ?= python3
BIN := .venv/bin
export PATH := $(CURDIR)/$(BIN):$(PATH)
export OMP_NUM_THREADS := 1
RUN := $(BIN)/python -m book.pipeline

.DEFAULT_GOAL := help
.PHONY: help book lab site serve sync prove check test test-core test-torch test-cpu test-cuda bench lock pins setup-site setup-full

help: ## list the commands
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

book: site serve ## set up, build and serve the site on this machine

site: setup-site ## build the site into _build/html (no torch needed)
	@$(RUN).site

serve:
	@$(RUN).serve $(if $(PORT),--port $(PORT))

READS := zh en both
lab: ## read and run the notebooks in JupyterLab: READ=zh, en or both; PORT=8889
	@$(if $(or $(filter-out $(READS),$(READ)),$(word 2,$(READ))),$(error lab: READ=$(READ) is none of: $(READS)))
	@$(PYTHON) book/pipeline/environment.py lab
	@$(RUN).lab $(if $(READ),--read $(READ)) $(if $(PORT),--port $(PORT))

sync: setup-full ## execute sections that changed and write their notebooks (FORCE=1: all)
	@$(RUN).sync $(if $(FORCE),--force)
	@$(BIN)/python -m tests.specimen.renew

prove: setup-full ## run the proofs of all cards and write their results
	@$(RUN).prove

check: setup-full ## before every commit: lint, staleness, what changed; ONLY=desk: these steps
	@$(BIN)/python -m book.pipeline.checks quick

test: setup-full ## what changed since it passed (FRESH=1: all; DRY=1: list it; DEPTH=20: more random cases)
	@$(BIN)/python -m book.pipeline.checks all

test-core: setup-full ## everything that needs no browser and no compiler
	@$(BIN)/python -m book.pipeline.checks core

test-torch: setup-full ## all notebooks and proofs with another torch: make test-torch TORCH=2.11.0
	@$(RUN).other_torch $(TORCH) $(if $(RECORD),--record)

test-cpu: setup-full ## all notebooks and proofs as a CPU without AVX-512 computes them
	@$(RUN).other_cpu

# Not the .venv that is put first above: this runs in the environment it is called from.
test-cuda: export PATH := $(patsubst $(CURDIR)/$(BIN):%,%,$(PATH))
test-cuda: ## all notebooks and proofs on a GPU, with PYTHON as it is; without a GPU: DEVICE=rehearsal
	@$(PYTHON) -m book.pipeline.cuda_run $(if $(DEVICE),--device $(DEVICE)) $(if $(RECORD),--record)

BENCHES := pages search site_build notebooks memory_order tensor_bytes scalar_speed loader loader_chaos graph_breaks capture_costs compile_differences compile_stages pipeline_times mini_dynamo triton_code load_inline cold_start recompute when_it_pays mini_compile proofs
bench: setup-full ## measure pages, notebooks, proofs, memory order; one of them: ONLY=pages; RECORD=1 stores the result
	@$(if $(filter-out $(BENCHES),$(ONLY)),$(error bench: ONLY=$(ONLY) is none of: $(BENCHES)))
	@$(if $(filter pages search,$(or $(ONLY),pages)),$(RUN).site)
	@for name in $(or $(ONLY),$(BENCHES)); do \
	  $(BIN)/python -m benchmarks.$$name $(if $(RECORD),--record) || exit 1; \
	done

lock: setup-full ## write the exact versions that are installed to constraints.txt
	@$(BIN)/python -m pip freeze --exclude-editable | sed -E 's/\+cpu$$//' > constraints.txt

pins: setup-full ## has every pinned package a wheel for Python 3.12 to 3.14? asks the package index
	@$(RUN).pins

setup-site:
	@$(PYTHON) book/pipeline/environment.py site

setup-full:
	@$(PYTHON) book/pipeline/environment.py full
