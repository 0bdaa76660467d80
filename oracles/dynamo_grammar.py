"""What random programs are made of: the helpers that they call, and forms with holes.

A hole: <t> a tensor, <i> an int, <f> a float, <c> a condition; <T>, <I>, <F> a name to bind.
"""

HEAD = '''\
import torch

COUNT = 0
LOG = []
REPLACED = torch.tensor([1.0, -1.0, 0.5])


class Box:
    def __init__(self, n):
        self.n, self.x, self.leaf = n, None, None

    @property
    def twice(self):
        return self.n * 2

    def step(self, z):
        self.n += 1
        self.x = z
        return z + self.n


def scaled(z, k=2, *, plus=0.5):
    return z * k + plus


def by_size(z, k):
    if k > 1:
        return z - k
    return z.abs() if z.dim() == 1 else z


def loud(z, k):
    z = z + k
    print("loud", k)
    return z * 0.5


def by_data(z):
    if z.sum() > 0:
        return z * 0.5
    return z + 2


def refuses(z, k):
    LOG.append(k)
    if k % 3 == 1:
        raise ValueError(f"refused {k}")
    return z - 1


def counted(k):
    for i in range(k % 4):
        yield i + 1

'''
TENSORS = ["<t> + <t>", "<t> - <t>", "<t> * <f>", "<t> * <i>", "-<t>", "torch.relu(<t>)",
           "<t>.abs()", "torch.sin(<t>)", "<t>.clamp(-2, 2)", "<t>.flip(0)", "<i> - <t>",
           "torch.where(<t> > <t>, <t>, <t>)", "scaled(<t>, <i>)", "scaled(<t>, plus=<f>)",
           "by_size(<t>, <i>)", "<t> if <c> else <t>", "<t> + <t>[0]", "<t>.sum() * 0.125 + <t>",
           "torch.rand(3) + <t>", "loud(<t>, <i>)", "by_data(<t>)", "xs[0] + <t>", "d['a'] - <t>",
           "<t>.clone()", "box.step(<t>)", "torch.stack([<t>, <t>]).sum(0)", "<t>.detach() * <f>",
           "sum([<t>, <t>])", "REPLACED * <t>", "<t>.expand(2, 3)[1]", "max(<i>, 1) * <t>",
           "refuses(<t>, <i>)", "d.get('b', <t>) + 1", "[<t>, <t>][<i> % 2]",
           "(lambda z: z + <i>)(<t>)"]
INTS = ["<i> + 1", "len(xs)", "<t>.shape[0]", "<i> % 3", "<i> * 2 % 5", "max(<i>, 2)", "int(<c>)",
        "<t>.dim()", "box.n % 4", "box.twice % 5", "d['k']", "len(LOG)", "abs(<i> - 2)",
        "<i> // 2", "sum(counted(<i>))", "COUNT + 1", "(<i>, <i>)[1]", "int(<t>.sum() > 0)"]
FLOATS = ["0.5", "-1.5", "2.0", "<i> / 2", "float(<i> % 3)", "0.25 * <f>"]
PLAIN = ["<i> < 3", "flag", "not flag", "<t>.shape[0] == 3", "<i> > 0 and flag", "0 < <i> < 4",
         "<i> in (1, 2)", "y is x", "<i> == <i> or not flag", "len(xs) > 2", "'b' in d",
         "isinstance(xs[0], torch.Tensor)", "box.x is None", "<t>.requires_grad",
         "torch.is_grad_enabled()"]
DATA = ["<t>.sum() > 0", "(<t> > 0).any()", "<t>[0] > <t>[1]", "not (<t> > 0).all()"]
SIMPLE = ["<T> = <t>", "<T> = <t>", "<T> = <t>", "<I> = <i>", "<I> = <i>", "<F> = <f>",
          "<T> += <t>", "<T> *= <f>", "<T> = <T> - <t>", "<I> += 1", "<T>.add_(<f>)",
          "<T>[0] = <f>", "<T>.mul_(<t>)", "view = <T>[1:]; view.mul_(2)", "<T>, <T> = <t>, <t>",
          "xs.append(<t>)", "xs[0] = <t>", "xs.reverse()", "xs[-1], xs[0] = xs[0], xs[-1]",
          "d['k'] += 1", "d['b'] = <t>", "d['k'], d['a'] = <i>, <t>", "LOG.append(<i>)",
          "LOG.append((<i>, <t>))", "COUNT += 1", "box.n += <i>", "box.x = <t>",
          "print('here', <i>)", "print(<t>)", "<F> = <t>.sum().item()",
          "<I>, *rest = <i>, <i>, <i>",
          "xs.extend([<t> * j for j in range(<i> % 3)])", "d.update(c=<i>)", "xs[0] += <t>",
          "xs[<i>] = <t>", "<I> = <i> // <i>", "<T> = d['c' if flag else 'k'] * <t>",
          'text = f"{<i>}-{flag}"; print(text)', "box.list = xs", "<T> = xs[-1]", "<T> = <T>",
          "del d['a']; d['a'] = <t>", "<I> = (w := <i>) + w", "assert <c>, 'asserted'"]
