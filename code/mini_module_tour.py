"""The tour of mini_module.py: the steps that tour.py shows.

    python code/mini_module.py --lang zh            exit status 0
    python code/mini_module.py --lang en
"""
import torch

import mini_module
import mini_module_layers
import tour

# A line of code, then what to look at, in either language.
STEPS = (
    ("net = Sequential(Linear(2, 3), ReLU(), Linear(3, 2))",
     "三个子模块，名字是 0、1、2",
     "Three children, named 0, 1 and 2"),
    ("list(net._modules)", "它们在 _modules 这张表里", "They are in the table _modules"),
    ("[name for name, _ in net.named_parameters()]",
     "路径是沿着树走出来的，参数自己不知道名字",
     "The walk makes the paths; a parameter doesn't know its name"),
    ("net[0].gain = torch.ones(3)",
     "普通张量不会注册，只是一个属性",
     "A plain tensor enters no table; it is an attribute"),
    ("sorted(net[0].state_dict())", "所以不会存", "So it isn't saved"),
    ("net[0].weight = torch.ones(3, 2)",
     "weight 是表里的名字，只收 Parameter 或 None",
     "weight is a name in a table, and takes a Parameter or None"),
    ("net[2].weight = Parameter(net[0].weight.detach().t())",
     "换成新的 Parameter 就可以",
     "A new Parameter is fine"),
    ("tied = Sequential(net[0], net[0])", "同一个模块放了两次", "One module, twice"),
    ("[name for name, _ in tied.named_parameters()]", "参数只数一次", "Parameters count once"),
    ("list(tied.state_dict())",
     "state_dict 每条路径都写",
     "state_dict writes every path"),
    ("weight = net[0].weight", "", ""),
    ("net.to(torch.float64)[0].weight is weight",
     "数据换了，对象没有换，所以共享还在",
     "The data is new, the object is not, so ties survive"),
    ("handle = net[1].register_forward_hook(lambda module, args, output: output * 0)",
     "钩子的返回值代替输出",
     "What a hook returns replaces the output"),
    ("(net(torch.ones(1, 2).double()) - net[2].bias).abs().max().item()", "", ""),
    ("handle.remove()", "", ""),
    ("net.load_state_dict({'0.weight': torch.ones(3, 2), '0.bias': torch.ones(4)})",
     "缺的、不合的，一次全列出来",
     "All that is missing or misfits is listed at once"),
    ("ModuleList([net])(1)", "ModuleList 没有 forward", "ModuleList has no forward"),
)


def main(argv=None):
    """Print the tour; the exit status, 0."""
    torch.manual_seed(0)
    scope = {**vars(mini_module_layers), **vars(mini_module), "torch": torch}
    return tour.run("A tour of nn.Module written again.", STEPS, scope, argv)
