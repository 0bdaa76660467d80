"""Fused, traced and compiled Scalars compute what the plain engine computes."""

import ctypes
import itertools
import math
import random
import sys

import pytest

import scalar_c
import scalar_fused
import scalar_mlp
import scalar_trace
from oracles import scalar_graphs as graphs
from pytorch_deep_dive import Scalar

GRAPHS = 600


# ---------------------------------------------------------------- the demo
# The first losses that micrograd prints in its own notebook, where the data come from
# scikit-learn: they hold the data, the drawing of parameters and the training step at once.
# Source: https://github.com/karpathy/micrograd/blob/master/demo.ipynb
MICROGRAD = [0.8958441028683222, 1.7235905336972022]


def plain_steps():
    return scalar_mlp.steps(seeded(), *scalar_mlp.two_moons())


def fused_steps():
    return scalar_fused.steps(seeded(dot=scalar_fused.dot), *scalar_mlp.two_moons())


def seeded(**options):
    random.seed(1337)
    return scalar_mlp.MLP(2, 16, 16, 1, **options)


def first(steps, count=5):
    return list(itertools.islice(steps, count))


def test_the_demo_starts_as_micrograds_own():
    assert first(plain_steps(), 2) == pytest.approx(MICROGRAD, rel=1e-12)


def test_fused_and_traced_steps_have_the_losses_of_the_plain_engine():
    plain = first(plain_steps())
    assert first(fused_steps()) == pytest.approx(plain, rel=1e-12)
    assert first(scalar_trace.steps(seeded(), *scalar_mlp.two_moons())) == pytest.approx(
        plain, rel=1e-12)


@pytest.mark.compiler
def test_compiled_steps_have_the_losses_of_the_plain_engine():
    compiled = first(scalar_c.steps(seeded(), *scalar_mlp.two_moons()))
    assert compiled == pytest.approx(first(plain_steps()), rel=1e-12)


def test_training_separates_the_moons():
    model, (rows, labels) = seeded(), scalar_mlp.two_moons()
    steps = scalar_trace.steps(model, rows, labels)
    assert first(steps, 100)[-1] < 0.02
    assert scalar_mlp.right(model, rows, labels) == 100


# ---------------------------------------------------------------- fused nodes

def test_a_fused_node_equals_the_chain_it_stands_for():
    rng = random.Random(0)
    for size in range(1, 9):
        numbers = [rng.gauss(0, 1) for _ in range(2 * size + 1)]
        chain, wide = ([Scalar(x) for x in numbers] for _ in range(2))
        scalar_mlp.dot(chain[:size], chain[size:-1], chain[-1]).tanh().backward()
        result = scalar_fused.dot(wide[:size], wide[size:-1], wide[-1]).tanh()
        scalar_fused.backward(result)
        assert [x.grad for x in wide] == pytest.approx([x.grad for x in chain], rel=1e-12)


def test_an_operand_that_occurs_twice_gets_both_shares():
    x = Scalar(3.0)
    scalar_fused.backward(scalar_fused.total([x, x, scalar_fused.dot([x], [x], x)]))
    assert x.grad == 2 + 2 * 3.0 + 1


def test_one_step_has_65414_nodes_or_7479():
    data = scalar_mlp.two_moons()
    assert len(scalar_mlp.loss(seeded(), *data).nodes()) == 65_414
    fused = scalar_mlp.loss(seeded(dot=scalar_fused.dot), *data, total=scalar_fused.total)
    assert len(scalar_fused.nodes(fused)) == 7_479


def test_a_second_backward_accumulates_in_leaves_only():
    x, w, b = Scalar(3.0), Scalar(2.0), Scalar(1.0)
    h = scalar_fused.dot([w], [x], b)
    for times in (1, 2):
        scalar_fused.backward(h * 5)
        assert (x.grad, w.grad, b.grad, h.grad) == (10.0 * times, 15.0 * times, 5.0 * times, 5.0)


def test_a_dot_keeps_its_operands_and_their_values():
    weights, inputs, bias = [Scalar(2.0)], [Scalar(3.0)], Scalar(0.0)
    node = scalar_fused.dot(weights, inputs, bias)
    weights[0].data = 100.0
    (w,), (x,) = weights.copy(), inputs.copy()
    weights.clear()
    inputs.clear()
    scalar_fused.backward(node)
    assert (w.grad, x.grad) == (3.0, 2.0)


def test_scalars_own_backward_refuses_wide_nodes():
    w = Scalar(2.0)
    for node in (scalar_fused.dot([w], [1.0], w), scalar_fused.total([w, w])):
        with pytest.raises(TypeError, match=r"call scalar_fused\.backward"):
            (node * 2).backward()
    assert w.grad == 0.0


def test_a_dot_of_unequal_lengths_is_refused():
    with pytest.raises(ValueError, match="2 weights, but 1 inputs"):
        scalar_fused.dot([Scalar(1.0), Scalar(2.0)], [3.0], Scalar(0.0))


def test_zero_gradients_and_dead_relus_stay_in_the_graph():
    """What would be faster and wrong: an infinite weight behind a dead relu must give nan."""
    w, x = Scalar(math.inf), Scalar(-1.0)
    result = scalar_fused.dot([w], [x.relu()], Scalar(0.0))
    assert math.isnan(result.data)
    scalar_fused.backward(result)
    assert w.grad == 0.0
    assert x in scalar_fused.nodes(result)


# ---------------------------------------------------------------- traced graphs

def traced(build, program, leaves):
    """(every Scalar of a recorded program, what `build` makes of the last one's graph)."""
    values = graphs.run(program, Scalar)
    run = build(values[-1], [values[i] for i in leaves])
    return values, run


def tame_programs():
    for seed in range(GRAPHS):
        builder = graphs.Builder(seed, min(60, graphs.draw_size(seed)), graphs.torch_leaf)
        program, _ = builder.build()
        if not builder.wild:
            yield seed, program, [i for i, step in enumerate(program) if step[0] == "leaf"]


def test_a_traced_function_gives_value_and_gradients_of_the_graph():
    count = 0
    for seed, program, leaves in tame_programs():
        values, run = traced(scalar_trace.to_python, program, leaves)
        values[-1].backward()
        total, gradients = run([values[i].data for i in leaves], [()])
        assert graphs.same(total, values[-1].data), seed
        for i, gradient in zip(leaves, gradients, strict=True):
            assert gradient == pytest.approx(values[i].grad, rel=1e-9, nan_ok=True), seed
        count += 1
    assert count >= 300


@pytest.mark.compiler
def test_a_compiled_function_gives_value_and_gradients_of_the_graph():
    count = 0
    for seed, program, leaves in itertools.islice(tame_programs(), 12):
        values, run = traced(scalar_c.to_c, program, leaves)
        values[-1].backward()
        point = scalar_c.doubles(values[i].data for i in leaves)
        found = scalar_c.doubles([0.0] * len(leaves))
        total = run(point, found, scalar_c.doubles([0.0]), 1, 1.0)
        assert total == pytest.approx(values[-1].data, rel=1e-12), seed
        for i, gradient in zip(leaves, found, strict=True):
            assert gradient == pytest.approx(values[i].grad, rel=1e-9, nan_ok=True), seed
        count += 1
    assert count == 12


def test_a_traced_operation_is_scalars_at_every_special_point():
    for name in graphs.OPERATIONS:
        size = 2 if name in graphs.BINARY else 1
        for number in graphs.SPECIAL if "c" in name.split() else [None]:
            instruction = name, range(size), number
            leaves = [Scalar(0.5) for _ in range(size)]
            run = scalar_trace.to_python(graphs.apply(instruction, leaves), leaves)
            for point in itertools.product(graphs.SPECIAL, repeat=size):
                values = [Scalar(x) for x in point]
                result = graphs.apply(instruction, values)
                result.backward()
                total, gradients = run(point, [()])
                assert graphs.same(total, result.data), (instruction, point)
                assert all(map(graphs.same, gradients, [x.grad for x in values])), (
                    instruction, point)


@pytest.mark.compiler
def test_a_compiled_relu_passes_on_what_meets_nan():
    x = Scalar(1.0)
    found = scalar_c.doubles([0.0])
    scalar_c.to_c(x.relu(), [x])(scalar_c.doubles([math.nan]), found, None, 1, 3.0)
    assert found[0] == 3.0


@pytest.mark.compiler
@pytest.mark.skipif(sys.platform != "linux", reason="-march=native is GCC's on Linux")
def test_products_and_sums_round_twice_at_any_level_and_on_any_cpu():
    a, c = 1 + 2.0**-30, -(1 + 2.0**-29)
    assert a * a + c == 0.0                                      # rounded once: 2**-60
    source = "double f(double a, double c) { return a * a + c; }"
    for flags in (("-O1",), ("-O2", "-march=native")):
        f = scalar_c.build(source, flags).f
        f.argtypes, f.restype = [ctypes.c_double] * 2, ctypes.c_double
        assert f(a, c) == 0.0


def test_inputs_take_new_values_and_other_leaves_stay_constants():
    w, x, constant = Scalar(2.0), Scalar(3.0), Scalar(10.0)
    run = scalar_trace.to_python((w * x + constant).relu(), [w], [x])
    total, gradients = run([2.0], [(3.0,), (-100.0,)], seed=0.5)
    assert (total, gradients) == (16.0, [1.5])
    assert "for x0, in batch" in run.source


def test_what_depended_on_values_is_fixed_when_it_is_traced():
    x = Scalar(1.0)
    y = x * 2 if x.data > 0 else x * 100
    run = scalar_trace.to_python(y, [x])
    assert run([-1.0], [()]) == (-2.0, [2.0])


@pytest.mark.parametrize(("rule", "named"), [
    (lambda w, x: (w * x).tanh(), ["v3 = tanh"]),                 # the product is read once
    (lambda w, x: (w * x).relu(), ["v2 = p0 * x0", "v3 = "]),     # the relu reads it twice
    (lambda w, x: (w * x).log(), ["v2 = p0 * x0", "v3 = "]),      # and backward reads this one
], ids=["tanh", "relu", "log"])
def test_a_value_is_named_if_it_is_read_twice_or_by_backward(rule, named):
    w, x = Scalar(2.0), Scalar(0.5)
    source = scalar_trace.to_python(rule(w, x), [w], [x]).source
    values = [line.strip() for line in source.splitlines() if line.strip().startswith("v")]
    assert [line[:len(start)] for line, start in zip(values, named, strict=True)] == named


def test_twice_the_width_is_three_to_four_times_the_code():
    lines, characters = [], []
    for width in (16, 32):
        random.seed(1337)
        model, label = scalar_mlp.MLP(2, width, width, 1), Scalar(1.0)
        sample = [Scalar(value) for value in scalar_mlp.two_moons()[0][0]]
        one = scalar_mlp.margin(model, sample, label)
        source = scalar_trace.to_python(one, model.parameters(), [*sample, label]).source
        lines.append(source.count("\n"))
        characters.append(len(source))
    assert 3 < lines[1] / lines[0] < 4
    assert 3 < characters[1] / characters[0] < 4


def test_numbers_come_back_bit_for_bit_in_the_source():
    for number in (-0.0, 5e-324, 1e300, -1.5, math.inf, -math.inf):
        assert graphs.same_bits(eval(scalar_trace.literal(number), scalar_trace.NAMES), number)
    assert scalar_trace.literal(-0.0) == "(-0.0)"  # C would read --0.0 as a decrement


def test_a_missing_compiler_is_said_in_one_line(monkeypatch):
    monkeypatch.setenv("CC", "no-such-compiler")
    x = Scalar(1.0)
    with pytest.raises(scalar_c.CompilerMissing, match="no C compiler 'no-such-compiler'; install"):
        scalar_c.to_c(x * 2, [x])
