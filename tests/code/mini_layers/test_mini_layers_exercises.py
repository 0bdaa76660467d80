"""The exercises on mini_layers: usual mistakes fail by name.

What holds of all exercises is in test_exercises.py.
"""

import pytest

from book.pipeline.ground.paths import CHAPTERS
from book.pipeline.notebooks import faded
from tests.helpers.exercise_checks import load, sources, teller

LIST = CHAPTERS / "03-modules/exercises.yaml"
EXERCISES = faded.read(LIST)
SOURCES = sources(EXERCISES)


@pytest.fixture
def told(tmp_path, capsys):
    return teller(EXERCISES, load(EXERCISES.check), tmp_path, capsys)


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
