"""The exercises on mini_layers: the check tells what passes, fails, waits or is still to write."""

import shutil
import subprocess
import sys

import pytest

from book.pipeline.notebooks import faded
from book.pipeline.paths import CHAPTERS, CODE
from tests.helpers.exercise_checks import cuts, load, sources, teller

LIST = CHAPTERS / "03-modules/exercises.yaml"
EXERCISES = faded.read(LIST)
SOURCES = sources(EXERCISES)
CHECKED = ["mini_layers", "mini_layers_attention"]
OURS = [exercise for exercise in EXERCISES.functions
        if EXERCISES.homes[exercise.name].stem in CHECKED]
CUTS = [cut for cut in cuts(EXERCISES) if cut[1] in CHECKED]
WAITS = {"softmax_or_zero", "KVCache.append"}


@pytest.fixture
def check():
    return load(EXERCISES.check)


@pytest.fixture
def told(check, tmp_path, capsys):
    return teller(EXERCISES, check, tmp_path, capsys)


@pytest.mark.parametrize("companion", CHECKED)
def test_the_solution_passes(told, check, companion):
    names = check.CHECKER.checks[companion]
    assert told(companion, SOURCES[companion]) == dict.fromkeys(names, "passes")


def test_the_list_fades_from_worked_over_blanks_to_tests_alone():
    assert [exercise.form for exercise in OURS] == ["worked", *["blanks"] * 3, *["tests"] * 3]


def test_every_function_of_the_list_is_checked_and_no_other(check):
    for companion in CHECKED:
        names = {name for name, home in EXERCISES.homes.items() if home.stem == companion}
        assert set(check.CHECKER.checks[companion]) == names
        beside = [file.name for file in EXERCISES.imports(CODE / f"{companion}.py")]
        assert check.CHECKER.imports.get(companion, []) == beside


@pytest.mark.parametrize(("name", "companion", "text"), CUTS)
def test_what_is_cut_is_reported_as_still_to_write(told, name, companion, text):
    found = told(companion, text)
    assert [other for other, word in found.items() if word == "write"] == [name]
    assert "fails" not in found.values(), "a function that nobody touched"
    assert ("waits" in found.values()) == (name in WAITS)


@pytest.mark.parametrize(("name", "old", "new"), [
    ("layer_norm", "torch.rsqrt(var + eps)", "1 / (var.sqrt() + eps)"),
    ("layer_norm", "range(-len(normalized_shape), 0))\n    values = wide(x)\n    centred",
     "range(-1, 0))\n    values = wide(x)\n    centred"),
    ("windows", "reach = [d * (k - 1) + 1", "reach = [d * k"),
    ("windows", "(size - r) // s + 1", "(size - r + 1) // s"),
    ("windows", "between = [step * s", "between = [step * 1"),
    ("windows", "within = [step * d", "within = [step * 1"),
    ("windows", "return x.as_strided(", "return x.clone().as_strided("),
    ("windows", "(sn, sc, *between, *within)", "(sn, sc, *within, *between)"),
    ("cross_entropy", "known = target.where(counts, 0)", "known = target.clamp(min=0)"),
    ("cross_entropy", "-log_probs.gather(1, known.unsqueeze(1)).squeeze(1) * weight[known]",
     "-log_probs.gather(1, known.unsqueeze(1)).squeeze(1)"),
    ("cross_entropy", "losses = losses.where(counts, 0)", "losses = losses * 1"),
    ("cross_entropy", "total / weight[known].where(counts, 0).sum()", "total / counts.sum()"),
    ("cross_entropy", "total / weight[known].where(counts, 0).sum()", "losses.mean()"),
    ("KVCache.append", "self.keys[:, :, self.length:end] = key",
     "self.keys[:, :, :key.shape[2]] = key"),
    ("KVCache.append", "self.values[:, :, self.length:end] = value",
     "self.values[:, :, self.length:end] = key"),
    ("KVCache.append", "        self.length = end\n", "        self.length += 1\n"),
    ("KVCache.append", "return self.keys[:, :, :end], self.values[:, :, :end]",
     "return self.keys, self.values"),
    ("KVCache.append", "if end > self.keys.shape[2]:", "if False:"),
    ("embedding", "torch.where(padding, rows.detach(), rows)", "rows"),
    ("embedding", "torch.where(padding, rows.detach(), rows)",
     "torch.where(padding, rows.new_zeros(()), rows)"),
    ("embedding", "ids == padding_idx % len(weight)", "ids == padding_idx"),
    ("embedding", "weight.index_select(0, ids.reshape(-1))", "weight[ids.reshape(-1)]"),
    ("softmax_or_zero", "largest.where(largest > -math.inf, 0)", "largest"),
    ("softmax_or_zero", "total.where(total > 0, 1)", "total"),
    ("softmax_or_zero", "(scores - largest.where(largest > -math.inf, 0)).exp()", "scores.exp()"),
    ("MultiheadAttention.forward", "transpose(1, 2).flatten(2)", "flatten(2).view(x.shape)"),
    ("MultiheadAttention.forward", "causal_mask(query.shape[2], key.shape[2], x.device)",
     "torch.ones(query.shape[2], key.shape[2], dtype=torch.bool).tril()"),
    ("MultiheadAttention.forward", "seen if mask is None else mask & seen", "seen"),
    ("MultiheadAttention.forward", "self.dropout if self.training else 0.0", "self.dropout"),
    ("MultiheadAttention.forward", "self.dropout if self.training else 0.0", "0.0"),
    ("MultiheadAttention.forward", "t.repeat_interleave(groups, 1) if groups > 1 else t",
     "t"),
    ("MultiheadAttention.forward", "key, value = cache.append(key, value)",
     "cache.append(key, value)"),
])
def test_a_usual_mistake_fails_by_its_name(told, name, old, new):
    companion = EXERCISES.homes[name].stem
    text = SOURCES[companion]
    assert text.count(old) == 1
    assert told(companion, text.replace(old, new))[name] == "fails"


# ---- the files in a folder, as a reader has them -------------------------------------------------

@pytest.fixture
def folder(tmp_path):
    """All downloads."""
    for name, text in faded.files(LIST).items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def run(*arguments):
    return subprocess.run([sys.executable, "-E", "-s", *map(str, arguments)], capture_output=True,
                          text=True, encoding="utf-8", cwd="/", check=False)


def test_the_files_work_alone_in_a_folder(folder):
    made = [folder / f"{name}_{end}.py" for name in CHECKED for end in faded.CUT.values()]
    done = run(folder / "check_modules.py", *made)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.count("still to write") == 6
    assert done.stdout.count("fails") == done.stdout.count("cannot be loaded") == 0
    for path in made:
        shutil.copy(CODE / f"{path.stem.partition('_blanks')[0].partition('_from_tests')[0]}.py",
                    path)
    done = run(folder / "check_modules.py", *made)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "全部通过 · all passed"


def test_a_machine_without_torch_is_told_so(folder):
    (folder / "torch.py").write_text("raise ImportError\n")
    done = run(folder / "check_modules.py")
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.splitlines()[0].endswith("this needs torch")
