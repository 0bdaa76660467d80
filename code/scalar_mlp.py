"""Step 1, what is to be trained: an MLP on Scalar, and two moons, the demo that micrograd has.

    python code/scalar_mlp.py                       100 steps; loss and accuracy every ten
"""
import itertools
import random
import sys
from operator import mul

from pytorch_deep_dive import Scalar, zero_grad

STEPS = 100
DECAY = 1e-4


def dot(weights, inputs, bias):
    """bias + the sum of weight * input, a node for each operation; scalar_fused.py has one node."""
    if len(weights) != len(inputs):
        raise ValueError(f"dot: {len(weights)} weights, but {len(inputs)} inputs; give as many")
    return sum(map(mul, weights, inputs), bias)


class Neuron:
    """`relu(dot(w, x, b))`, or without the relu; w is drawn from uniform(-1, 1), b is 0."""

    def __init__(self, inputs, relu=True, dot=dot):
        self.w = tuple([Scalar(random.uniform(-1, 1)) for _ in range(inputs)])
        self.b = Scalar(0.0)
        self.relu, self.dot = relu, dot

    def __call__(self, x):
        activation = self.dot(self.w, x, self.b)
        return activation.relu() if self.relu else activation

    def parameters(self):
        return [*self.w, self.b]


class Layer:
    """Neurons side by side: `inputs` numbers or Scalars in, a tuple of `outputs` Scalars out."""

    def __init__(self, inputs, outputs, **options):
        self.neurons = [Neuron(inputs, **options) for _ in range(outputs)]

    def __call__(self, x):
        return tuple([neuron(x) for neuron in self.neurons])

    def parameters(self):
        return [p for neuron in self.neurons for p in neuron.parameters()]


class MLP:
    """Layers of the given sizes, `MLP(2, 16, 16, 1)`; no relu after the last. Returns a tuple.

    Parameters are drawn in the order in which micrograd's MLP draws them.
    """

    def __init__(self, *sizes, **options):
        last = len(sizes) - 2
        self.layers = [Layer(n, m, relu=i != last, **options)
                       for i, (n, m) in enumerate(itertools.pairwise(sizes))]

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

    def parameters(self):
        return [p for layer in self.layers for p in layer.parameters()]


def two_moons(points=100, noise=0.1, seed=1337):
    """`points` rows (x0, x1) and labels -1.0 or 1.0, the very numbers of scikit-learn's make_moons.

    `points` is even.
    Source: sklearn.datasets.make_moons(points, noise=noise) after numpy.random.seed(seed).
    """
    import numpy

    draw = numpy.random.RandomState(seed)
    angle = numpy.linspace(0, numpy.pi, points // 2)
    upper = numpy.stack([numpy.cos(angle), numpy.sin(angle)], 1)
    lower = numpy.stack([1 - numpy.cos(angle), 1 - numpy.sin(angle) - 0.5], 1)
    order = numpy.arange(points)
    draw.shuffle(order)
    rows = numpy.concatenate([upper, lower])[order]
    rows = rows + draw.normal(scale=noise, size=rows.shape)
    return rows.tolist(), [-1.0 if i < points // 2 else 1.0 for i in order]


def margin(model, row, label):
    """The max-margin loss of one sample: 0 where label * score is 1 or more."""
    score, = model(row)
    return (1 + -label * score).relu()


def penalty(parameters, total=sum):
    """The L2 term: DECAY times the sum of squares."""
    return DECAY * total([p * p for p in parameters])


def loss(model, rows, labels, total=sum):
    """Mean margin over the samples plus the penalty."""
    margins = [margin(model, row, label) for row, label in zip(rows, labels, strict=True)]
    return total(margins) * (1.0 / len(margins)) + penalty(model.parameters(), total)


def learning_rate(step):
    return 1.0 - 0.9 * step / STEPS


def descend(parameters, rate):
    for p in parameters:
        p.data -= rate * p.grad


def steps(model, rows, labels, loss=loss, backward=Scalar.backward):
    """Train for ever; yields the loss of each step, computed before it."""
    for step in itertools.count():
        value = loss(model, rows, labels)
        zero_grad(model.parameters())
        backward(value)
        descend(model.parameters(), learning_rate(step))
        before = value.data
        del value                          # this graph goes before the next one is built
        yield before


def right(model, rows, labels):
    """How many samples get a score of the label's sign."""
    return sum((model(row)[0].data > 0) == (label > 0)
               for row, label in zip(rows, labels, strict=True))


def main():
    random.seed(1337)
    model, (rows, labels) = MLP(2, 16, 16, 1), two_moons()
    for step, value in enumerate(itertools.islice(steps(model, rows, labels), STEPS), 1):
        if step % 10 == 0:
            print(f"step {step}: loss {value:.6f}, right {right(model, rows, labels)} of 100")
    return 0


if __name__ == "__main__":
    sys.exit(main())
