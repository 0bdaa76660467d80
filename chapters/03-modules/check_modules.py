"""检查补完的随书代码（第 3 章）· Check the companions of chapter 3 that you have completed.

    python3 check_modules.py                 every practice file beside this file
    python3 check_modules.py FILE …

The exit status is 0 if all checks pass. It needs torch: what you wrote is compared with torch.nn.
"""
import sys
from types import SimpleNamespace

from exercise_harness import Checker, Differs, claim

try:
    import torch
    from torch.nn import functional
except ImportError:
    torch = None


def same(what, found, wanted):
    """Stop with one line unless what is found is what is wanted."""
    if found != wanted:
        raise Differs(f"{what}: expected {wanted}; found {found}")


# --- mini_module.py: the walk --------------------------------------------------------------------

def module_tree(library):
    """A root with children a, b, a once more as c, and None as d; a weight that is tied.

    Tables are filled directly, so that nothing depends on what an assignment does.
    """
    root, a, b = (library.Module() for _ in range(3))
    tied, own = (library.Parameter(torch.full((2,), value)) for value in (1.0, 2.0))
    a._parameters.update(weight=tied, bias=None)
    b._parameters.update(weight=own, twin=tied)
    b._buffers.update(mean=torch.full((1,), 3.0), count=torch.tensor(4), none=None)
    b._non_persistent_buffers_set.add("mean")
    root._parameters["scale"] = own
    root._modules.update(a=a, b=b, c=a, d=None)
    return SimpleNamespace(root=root, a=a, b=b, tied=tied, own=own)


def check_module_named_modules(module):
    for once in (True, False):
        paths = [[path for path, _ in module_tree(library).root.named_modules(
            prefix="net", remove_duplicate=once)] for library in (module, torch.nn)]
        same(f"paths of named_modules(prefix='net', remove_duplicate={once})", *paths)
    tree = module_tree(module)
    same("what has the path c", [path for path, found in tree.root.named_modules(
        remove_duplicate=False) if found is tree.a], ["a", "c"])


def check_module_named_members(module):
    for table, public in (("_parameters", "named_parameters"), ("_buffers", "named_buffers")):
        for prefix in ("", "net"):
            for recurse in (True, False):
                for once in (True, False):
                    found = module_tree(module).root._named_members(table, prefix, recurse, once)
                    wanted = getattr(module_tree(torch.nn).root, public)(prefix, recurse, once)
                    same(f"{table} with prefix '{prefix}', recurse={recurse}, "
                         f"remove_duplicate={once}", values(found), values(wanted))


def values(named):
    return [(path, tensor.tolist()) for path, tensor in named]


def check_module_apply(module):
    tree = module_tree(module)
    weight, tree.own.grad = tree.a._parameters["weight"], torch.ones(2)
    result = tree.root._apply(lambda t: t.double() * 2)
    same("what _apply returns is the module", result is tree.root, True)
    for path, table, name, wanted in [
            ("b", "_buffers", "mean", [6.0]), ("b", "_buffers", "count", 8.0),
            ("b", "_buffers", "none", None), ("a", "_parameters", "bias", None)]:
        found = getattr(getattr(tree, path), table)[name]
        same(f"{path}.{name} after doubling", found if found is None else found.tolist(), wanted)
    # Two modules hold each of them, so that each is doubled twice, in torch as well.
    same("a tied weight after doubling", weight.tolist(), [4.0, 4.0])
    same("a.weight is the same object as before", tree.a._parameters["weight"] is weight, True)
    same("b.twin is still a.weight", tree.b._parameters["twin"] is weight, True)
    same("dtype of the gradient", tree.own.grad.dtype, torch.float64)


# --- mini_module.py: the assignment --------------------------------------------------------------

def module_values(library):
    """What is assigned, by kind."""
    return {
        "a Parameter": library.Parameter(torch.zeros(2)), "a Module": library.Module(),
        "a Buffer": library.Buffer(torch.zeros(2)), "None": None, "a tensor": torch.zeros(2),
        "a Buffer that is not saved": library.Buffer(torch.zeros(2), persistent=False),
        "a number": 1}


def module_after(library, before, value):
    """The tables and attributes after one or two assignments, or how the last was refused."""
    owner = library.Module()
    refused = None
    try:
        for kind in (before, value):
            if kind is not None:
                owner.x = module_values(library)[kind]
    except (AttributeError, KeyError, TypeError) as error:
        refused = type(error).__name__
    tables = [name for name in ("_parameters", "_buffers", "_modules", "__dict__")
              if "x" in getattr(owner, name)]
    kept = getattr(owner, "x", None)
    return (refused, tables, "saved" if "x" not in owner._non_persistent_buffers_set else "not",
            "None" if kept is None else "a value")


def check_module_setattr(module):
    kinds = list(module_values(module))
    for before in (None, *kinds):
        for value in kinds:
            found, wanted = (module_after(library, before, value) for library in (module, torch.nn))
            if found != wanted:
                first = f"m.x is {before}; " if before else ""
                raise Differs(f"{first}m.x = {value}: expected {told(*wanted)}; "
                              f"found {told(*found)}")
    for value in ("a Parameter", "a Module", "a Buffer"):
        owner = module.Module.__new__(module.Module)
        try:
            owner.x = module_values(module)[value]
        except AttributeError as error:
            same(f"{value} before super().__init__()", "before Module.__init__() call" in
                 str(error), True)
        else:
            raise Differs(f"{value} before super().__init__(): expected AttributeError; "
                          "nothing was raised")


def told(refused, tables, saved, kept):
    where = " and ".join(tables) or "no table"
    return f"{refused or 'no error'}, then x in {where}, {saved} by state_dict, holding {kept}"


# --- mini_module_state.py ------------------------------------------------------------------------

def state_tree(module):
    """The tree of `module_tree`, of modules that can only be saved and loaded."""
    class Node(module.Stateful):
        def __init__(self):
            self._parameters, self._buffers, self._modules = {}, {}, {}
            self._non_persistent_buffers_set = set()

    def parameter(data):
        return torch.nn.Parameter(data)
    return module_tree(SimpleNamespace(Module=Node, Parameter=parameter))


def check_state_dict(module):
    ours, theirs = state_tree(module), module_tree(torch.nn)
    for prefix in ("", "net."):
        found, wanted = (tree.root.state_dict(prefix=prefix) for tree in (ours, theirs))
        same(f"state_dict(prefix='{prefix}')", values(found.items()), values(wanted.items()))
        same(f"paths in the metadata, prefix='{prefix}'", list(found._metadata),
             list(wanted._metadata))
    state = ours.root.state_dict()
    same("the weight in the state needs a gradient", state["a.weight"].requires_grad, False)
    same("the weight in the state shares the module's storage",
         state["a.weight"].data_ptr(), ours.tied.data_ptr())
    same("with keep_vars, the weight in the state is the module's own",
         ours.root.state_dict(keep_vars=True)["a.weight"] is ours.tied, True)


def state_damaged(case):
    """A state for the tree with something wrong."""
    fitting = module_tree(torch.nn).root.state_dict()
    state = {key: torch.full_like(tensor, 9) for key, tensor in fitting.items()}
    for key in case.get("missing", ()):
        del state[key]
    for key in case.get("more", ()):
        state[key] = torch.zeros(1)
    for key, value in case.get("instead", {}).items():
        state[key] = value
    return state


def check_state_load_own(module):
    cases = [
        {}, {"missing": ["a.weight"]}, {"missing": ["scale", "b.count"]},
        {"more": ["b.mean"]}, {"more": ["shift", "e.weight", "a.bias"]}, {"more": ["d.weight"]},
        {"more": ["a.weight.more", "b.x.y"]}, {"missing": ["b.weight"], "more": ["b.w"]},
        {"instead": {"scale": torch.zeros(3)}, "missing": ["b.twin"], "more": ["z"]},
        {"instead": {"a.weight": 3}}]
    for case in cases:
        for strict in (True, False):
            ours, theirs = state_tree(module), module_tree(torch.nn)
            told_by = [state_load(tree, case, strict) for tree in (ours, theirs)]
            what = f"load_state_dict with {case or 'nothing wrong'}, strict={strict}"
            same(what, *told_by)
            same(f"{what}: what the modules hold", *map(state_held, (ours, theirs)))


def state_load(tree, case, strict):
    """The keys or the message, without the name of the class."""
    try:
        return tuple(tree.root.load_state_dict(state_damaged(case), strict=strict))
    except RuntimeError as error:
        return str(error).partition(":\n")[2]


def state_held(tree):
    """The numbers in the tables, without a look at what is saved."""
    return [[tensor.tolist() for table in (node._parameters, node._buffers)
             for tensor in table.values() if tensor is not None]
            for node in (tree.root, tree.a, tree.b)]


# --- what mini_layers is compared with ---------------------------------------------------------

def close(what, found, wanted):
    """Stop with one line unless a tensor has the shape and, nearly, the values that are wanted."""
    if not isinstance(found, torch.Tensor):
        raise Differs(f"{what}: expected a tensor; found {found!r}")
    if found.shape != wanted.shape:
        raise Differs(f"{what}: expected shape {tuple(wanted.shape)}; found {tuple(found.shape)}")
    if not torch.allclose(found, wanted, atol=1e-5, equal_nan=True):
        raise Differs(f"{what}: expected {shown(wanted)}; found {shown(found)}")


def shown(tensor):
    """The first values, rounded, as text."""
    values = [round(value, 3) for value in tensor.detach().flatten()[:6].tolist()]
    return f"{values}{' …' if tensor.numel() > 6 else ''}"


def like_torch(what, mine, theirs, *leaves, **options):
    """Compare two functions of the leaves and options, result and gradients."""
    results = []
    for function in (mine, theirs):
        taken = [leaf.clone().requires_grad_() for leaf in leaves]
        result = function(*taken, **options)
        claim(f"{what}: a tensor is returned", isinstance(result, torch.Tensor))
        weight = torch.arange(1.0, result.numel() + 1).reshape(result.shape).sin()
        gradients = torch.autograd.grad((result * weight).sum(), taken, allow_unused=True)
        results.append((result, gradients))
    (found, ours), (wanted, those) = results
    close(what, found, wanted)
    for number, (gradient, expected) in enumerate(zip(ours, those, strict=True)):
        claim(f"{what}: argument {number} gets a gradient", gradient is not None)
        close(f"{what}, gradient of argument {number}", gradient, expected)


def numbers(*shape):
    """The same irregular numbers each time."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(len(shape)))


# --- mini_layers.py ----------------------------------------------------------------------------

def check_layer_norm(module):
    x, weight, bias = numbers(2, 3, 4) * 5 + 2, numbers(4), numbers(4) - 1
    for eps in (1e-5, 0.1):
        like_torch(f"layer_norm over (4,), eps={eps}",
                   lambda x, *weights, eps: module.layer_norm(x, (4,), *weights, eps=eps),
                   lambda x, *weights, eps: functional.layer_norm(x, (4,), *weights, eps=eps),
                   x, weight, bias, eps=eps)
    like_torch("layer_norm over (3, 4), no weight", lambda x: module.layer_norm(x, (3, 4)),
               lambda x: functional.layer_norm(x, (3, 4)), x)
    like_torch("layer_norm of equal numbers", lambda x: module.layer_norm(x, (4,)),
               lambda x: functional.layer_norm(x, (4,)), torch.ones(2, 4))


def check_windows(module):
    x = torch.arange(2 * 3 * 6 * 7.0).reshape(2, 3, 6, 7)
    for kernel, stride, dilation in [((2, 2), (1, 1), (1, 1)), ((3, 2), (2, 1), (1, 1)),
                                     ((2, 3), (1, 2), (3, 2)), ((1, 1), (3, 3), (1, 1)),
                                     ((6, 7), (1, 1), (1, 1))]:
        what = f"windows {kernel}, stride {stride}, dilation {dilation}"
        view = module.windows(x, kernel, stride, dilation)
        reach = [d * (k - 1) + 1 for k, d in zip(kernel, dilation, strict=True)]
        whole = x.unfold(2, reach[0], stride[0]).unfold(3, reach[1], stride[1])
        close(what, view, whole[..., ::dilation[0], ::dilation[1]])
        claim(f"{what}: a view on the same storage", view.data_ptr() == x.data_ptr())
    close("windows of a transposed image", module.windows(x.mT, (2, 2)),
          x.mT.unfold(2, 2, 1).unfold(3, 2, 1))


def check_cross_entropy(module):
    logits, target = numbers(5, 3, 2) * 3, torch.tensor([[0, 1], [2, 2], [1, 0], [-100, 1], [0, 2]])
    every = torch.tensor([[-100, -100]] * 5)
    for options in ({}, {"reduction": "sum"}, {"reduction": "none"}, {"ignore_index": 255},
                    {"label_smoothing": 0.3}, {"weight": torch.tensor([1.0, 5.0, 0.5])},
                    {"weight": torch.tensor([1.0, 5.0, 0.5]), "label_smoothing": 0.3}):
        labels = target.where(target >= 0, options.get("ignore_index", -100))
        like_torch(f"cross_entropy, {options or 'mean'}", module.cross_entropy,
                   functional.cross_entropy, logits, target=labels, **options)
    like_torch("cross_entropy of logits of 1000", lambda z: module.cross_entropy(z, target),
               lambda z: functional.cross_entropy(z, target), logits * 1000)
    like_torch("cross_entropy, all ignored", lambda z: module.cross_entropy(z, every),
               lambda z: functional.cross_entropy(z, every), logits)


def check_embedding(module):
    ids, weight = torch.tensor([[0, 2, 1], [2, 2, 0]]), numbers(4, 3)
    for padding in (None, 2, 0, -4):
        like_torch(f"embedding, padding_idx={padding}",
                   lambda weight, **options: module.embedding(ids, weight, **options),
                   lambda weight, **options: functional.embedding(ids, weight, **options),
                   weight, padding_idx=padding)
    close("embedding of no ids", module.embedding(ids[:0], weight), weight.new_zeros(0, 3, 3))
    for bad in (-1, 4):
        try:
            module.embedding(torch.tensor([bad]), weight)
        except (IndexError, RuntimeError) as error:
            if not isinstance(error, NotImplementedError):
                continue
            raise
        raise Differs(f"embedding of id {bad} of 4 rows: expected an error; nothing was raised")


# --- mini_layers_attention.py ------------------------------------------------------------------

def check_softmax_or_zero(module):
    low = -float("inf")
    like_torch("softmax_or_zero", module.softmax_or_zero,
               lambda scores: functional.softmax(scores, -1), numbers(2, 3, 4) * 3)
    close("softmax_or_zero of scores of 1000",
          module.softmax_or_zero(torch.tensor([[1000.0, 1000.0, -1000.0]])),
          torch.tensor([[0.5, 0.5, 0.0]]))
    leaf = torch.tensor([[1.0, 1.0], [0.0, 0.0]], requires_grad=True)
    weights = module.softmax_or_zero(leaf + torch.tensor([[0.0, low], [low, low]]))
    close("softmax_or_zero, one row of -inf", weights, torch.tensor([[1.0, 0.0], [0.0, 0.0]]))
    (gradient,) = torch.autograd.grad(weights[:, 0].sum(), leaf)
    close("its gradient", gradient, torch.zeros(2, 2))


def check_append(module):
    cache, seen = module.KVCache(2, 3, 6, 4), torch.zeros(2, 3, 0, 4)
    for length in (2, 1, 3):
        new = numbers(2, 3, length, 4) + length
        seen = torch.cat([seen, new], 2)
        keys, values = cache.append(new, -new)
        close(f"keys after {length} more", keys, seen)
        close(f"values after {length} more", values, -seen)
        claim(f"cache.length is {seen.shape[2]}", cache.length == seen.shape[2])
        claim("views of the cache are returned", keys.data_ptr() == cache.keys.data_ptr())
    kept = cache.keys.clone(), cache.values.clone()
    try:
        cache.append(new, new)
    except ValueError:
        claim("a refused append leaves the cache alone", cache.length == 6 and all(
            map(torch.equal, kept, (cache.keys, cache.values))))
        return
    raise Differs("9 positions in a cache with room for 6: expected ValueError; nothing was raised")


def check_forward(module):
    x = numbers(2, 5, 12)
    theirs = torch.nn.MultiheadAttention(12, 3, batch_first=True)
    mine = module.MultiheadAttention(12, 3)
    mine.load_state_dict(theirs.state_dict())
    causal = torch.ones(5, 5, dtype=torch.bool).tril()
    mask = causal.flip(0)
    for what, options, hidden in [("no mask", {}, None), ("mask", {"mask": mask}, ~mask),
                                  ("causal=True", {"causal": True}, ~causal),
                                  ("mask and causal", {"mask": mask, "causal": True},
                                   ~(mask & causal))]:
        wanted, _ = theirs(x, x, x, attn_mask=hidden, need_weights=False)
        close(f"forward, {what}", mine(x, **options), wanted)
    mine.dropout = 0.5
    claim("forward in training: dropout acts", not torch.allclose(mine(x), mine(x)))
    close("forward in eval, with dropout", mine.eval()(x), theirs(x, x, x, need_weights=False)[0])
    for kv_heads in (6, 2):
        check_with_cache(module, kv_heads, x)


def check_with_cache(module, kv_heads, x):
    layer = module.MultiheadAttention(12, 6, kv_heads)
    with torch.no_grad():
        cache = module.KVCache(2, kv_heads, 5, 2)
        parts = [layer(part, causal=True, cache=cache) for part in x.split([2, 1, 2], 1)]
        query, key, value = layer.split(functional.linear(x, layer.in_proj_weight))
        key, value = (t.repeat_interleave(6 // kv_heads, 1) for t in (key, value))
        out = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        wanted = layer.out_proj(out.transpose(1, 2).reshape(2, 5, 12))
    close(f"forward in chunks, {kv_heads} heads of keys", torch.cat(parts, 1), wanted)


CHECKER = Checker(
    {"mini_module": {"Module.named_modules": check_module_named_modules,
                     "Module._named_members": check_module_named_members,
                     "Module._apply": check_module_apply,
                     "Module.__setattr__": check_module_setattr},
     "mini_module_state": {"Stateful.state_dict": check_state_dict,
                           "Stateful._load_own": check_state_load_own},
     "mini_layers": {"layer_norm": check_layer_norm, "windows": check_windows,
                     "cross_entropy": check_cross_entropy, "embedding": check_embedding},
     "mini_layers_attention": {"softmax_or_zero": check_softmax_or_zero,
                               "KVCache.append": check_append,
                               "MultiheadAttention.forward": check_forward}},
    needs={"Module._named_members": ["Module.named_modules"],
           "MultiheadAttention.forward": ["softmax_or_zero", "KVCache.append"]},
    imports={"mini_module": ["mini_module_tensors.py", "mini_module_state.py",
                             "mini_module_hooks.py", "mini_module_handy.py"],
             "mini_layers": ["mini_layers_checks.py"],
             "mini_layers_attention": ["mini_layers.py", "mini_layers_checks.py"]})

if __name__ == "__main__":
    if torch is None:
        print("要装 torch · this needs torch")
        sys.exit(1)
    sys.exit(CHECKER.main())
