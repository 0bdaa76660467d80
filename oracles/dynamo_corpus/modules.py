"""nn.Module: layers, containers, buffers, counters, modes, hooks, shared weights."""

import torch
from torch import nn

from oracles.dynamo_cases import built, t


def plain(module):
    """The same numbers each time."""
    with torch.no_grad():
        for i, param in enumerate(module.parameters()):
            param.copy_(t(*param.shape) + i)
    return module


class Counting(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0
        self.lin = nn.Linear(3, 3)
        self.scale = 2.0
        self.register_buffer("seen", torch.zeros(1))

    def forward(self, x):
        self.calls += 1
        return self.lin(x) * self.scale


class Buffered(Counting):
    def forward(self, x):
        self.seen += x.sum()
        self.last = x * 2
        return super().forward(x) + self.seen


class Noisy(Counting):
    def forward(self, x):
        x = self.lin(x)
        print("between", self.calls)
        self.calls += 1
        return self.lin(x)


@built
def a_linear_layer():
    net = plain(nn.Linear(3, 2))
    return net, [lambda: t(2, 3)], net


@built
def a_sequential():
    net = plain(nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)))
    return net, [lambda: t(2, 3)] * 2, net


@built
def a_sequential_in_a_function():
    net = plain(nn.Sequential(nn.Linear(3, 4), nn.Tanh()))

    def run(x):
        return net(x).sum() + net[0].weight.sum()
    return run, [lambda: t(2, 3)], net


@built
def a_module_counts():
    net = plain(Counting())
    return net, [lambda: t(2, 3)] * 3, net


@built
def a_module_keeps_tensors():
    net = plain(Buffered())
    return net, [lambda: t(2, 3)] * 2, net


@built
def a_module_prints():
    net = plain(Noisy())
    return net, [lambda: t(2, 3)] * 2, net


@built
def an_attribute_changed_between_calls():
    net = plain(Counting())

    def change():
        net.scale = 5.0
        return t(2, 3)
    return (lambda x: net(x)), [lambda: t(2, 3), change], net


@built
def batch_norm_trains_and_rests():
    net = nn.BatchNorm1d(3)

    def rest():
        net.eval()
        return t(4, 3)
    return (lambda x: net(x) * 2), [lambda: t(4, 3), lambda: t(4, 3), rest], net


@built
def a_branch_on_training():
    net = plain(Counting())

    def run(x):
        return net(x) if net.training else x

    def rest():
        net.eval()
        return t(2, 3)
    return run, [lambda: t(2, 3), rest, lambda: t(2, 3)], net


@built
def dropout_draws():
    net = nn.Dropout(0.5)
    return (lambda x: net(x) + net(x)), [lambda: t(8)] * 2, net


@built
def tied_weights():
    net = plain(nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3)))
    net[1].weight = net[0].weight
    return (lambda x: net(x)), [lambda: t(2, 3)], net


@built
def a_list_of_modules():
    layers = plain(nn.ModuleList(nn.Linear(3, 3) for _ in range(3)))

    def run(x):
        for i, layer in enumerate(layers):
            x = layer(x) + i
        return x, len(layers)
    return run, [lambda: t(2, 3)], layers


@built
def a_dict_of_modules():
    layers = plain(nn.ModuleDict({"a": nn.Linear(3, 3), "b": nn.ReLU()}))

    def run(x):
        for name in layers:
            x = layers[name](x) * len(name)
        return x
    return run, [lambda: t(2, 3)], layers


@built
def parameters_summed():
    net = plain(Counting())

    def run(x):
        total = sum(p.sum() for p in net.parameters())
        return x + total, [name for name, _ in net.named_parameters()]
    return run, [lambda: t(3)], net


@built
def a_forward_hook():
    net, log = plain(nn.Linear(3, 3)), []
    net.register_forward_hook(lambda module, args, out: (log.append("hook"), out * 2)[1])
    return (lambda x: net(x) + 1), [lambda: t(2, 3)], log


@built
def a_pre_hook_prints():
    net = plain(nn.Linear(3, 3))
    net.register_forward_pre_hook(lambda module, args: print("before"))
    return (lambda x: net(x * 2) + 1), [lambda: t(2, 3)], net


@built
def the_weight_changed_in_place():
    net = plain(nn.Linear(2, 2, bias=False))

    def run(x):
        with torch.no_grad():
            net.weight.mul_(0.5)
        return net(x)
    return run, [lambda: t(2, 2)] * 2, net


@built
def a_module_made_inside():
    def run(x):
        return nn.ReLU()(x) + 1
    return run, [lambda: t(3)]


@built
def methods_and_properties_of_a_module():
    class Net(nn.Module):
        width = 3

        @property
        def double(self):
            return self.width * 2

        def part(self, x, n=1):
            return x * self.double + n

        def forward(self, x):
            return self.part(x) + self.part(x, n=5)
    net = Net()
    return net, [lambda: t(3)], net


@built
def embeddings_and_norms():
    net = plain(nn.Sequential(nn.Embedding(5, 4), nn.LayerNorm(4)))
    return (lambda i: net(i)), [lambda: torch.tensor([0, 3, 3])], net


@built
def a_convolution():
    net = plain(nn.Conv2d(1, 2, 3, padding=1))
    return (lambda x: net(x).relu()), [lambda: t(1, 1, 4, 4)], net


@built
def a_gradient_step_by_hand():
    net = plain(nn.Linear(3, 1))

    def run(x):
        loss = net(x).pow(2).mean()
        loss.backward()
        with torch.no_grad():
            for param in net.parameters():
                param -= 0.1 * param.grad
                param.grad = None
        return loss.detach()
    return run, [lambda: t(2, 3)] * 2, net


@built
def an_optimizer_steps():
    net = plain(nn.Linear(3, 1))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

    def run(x):
        optimizer.zero_grad()
        loss = net(x).pow(2).mean()
        loss.backward()
        optimizer.step()
        return loss.detach()
    return run, [lambda: t(2, 3)] * 2, net
