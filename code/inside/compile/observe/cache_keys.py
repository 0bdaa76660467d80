"""The keys under which torch.compile would look for a compiled function on disk.

    from inside.compile.observe.cache_keys import cache_keys, misses
    cache_keys(f, x)                # {"AOTAutograd": "a…", "Inductor": "f…"}
    misses(before, after)           # the caches whose key has changed

Nothing is compiled or stored: the graph goes through Dynamo and AOTAutograd, torch computes each
key where it would look it up, and the graph then runs as it is. The first key is made of the graph
that Dynamo captured (`torch._functorch._aot_autograd.autograd_cache.autograd_cache_key`), the
second of the graph that Inductor receives (`torch._inductor.codecache.FxGraphCache.prepare_key`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest import mock

import torch
from torch._functorch._aot_autograd import autograd_cache
from torch._inductor.codecache import FxGraphCache
from torch._inductor.compile_fx import compile_fx, get_input_idxs_to_check

from inside.compile.observe.compile_machine import no_default_device

BYPASS = "bypass"  # instead of a key, where torch refuses to cache


def cache_keys(fn: Callable, *args: Any) -> dict[str, str]:
    """The keys of both caches for `fn(*args)`, which has to be one graph; `BYPASS` for no key.

    Raises ValueError where the call gives several graphs or none.
    """
    found: dict[str, list[str]] = {"AOTAutograd": [], "Inductor": []}

    def backend(graph: torch.fx.GraphModule, inputs: list) -> Callable:
        return compile_fx(graph, inputs, inner_compile=lambda *a, **k: inner(found, *a, **k))

    torch._dynamo.reset()
    with no_default_device(), mock.patch.object(autograd_cache, "autograd_cache_key",
                                                noting(found["AOTAutograd"])):
        torch.compile(fn, backend=backend)(*args)
    if any(len(keys) != 1 for keys in found.values()):
        raise ValueError(f"one graph is wanted; AOTAutograd saw {len(found['AOTAutograd'])}, "
                         f"Inductor {len(found['Inductor'])}")
    return {cache: keys[0] for cache, keys in found.items()}


def noting(keys: list[str]) -> Callable:
    """torch's own function for the first key, which notes it and then looks nothing up."""
    real = autograd_cache.autograd_cache_key

    def note(*args: Any, **kwargs: Any) -> Any:
        try:
            keys.append(real(*args, **kwargs)[0])
        except autograd_cache.BypassAOTAutogradCache:
            keys.append(BYPASS)
        raise autograd_cache.BypassAOTAutogradCache("only the key is wanted")

    return note


def inner(found: dict[str, list[str]], graph: torch.fx.GraphModule, inputs: list,
          **options: Any) -> Callable:
    """In Inductor's place: note the second key and run the graph as it is."""
    checked = get_input_idxs_to_check(inputs, options.get("static_input_idxs", ()))
    key, _ = FxGraphCache.prepare_key(graph, inputs, options, checked, remote=False)
    found["Inductor"].append(key[0] if key else BYPASS)

    def run(args: list) -> Any:
        return graph(*args)

    run._boxed_call = True  # AOTAutograd passes one list
    return run


def misses(before: dict[str, str], after: dict[str, str]) -> list[str]:
    """The caches that would not find what `before` stored: the key differs, or there is none."""
    return [cache for cache, key in before.items() if BYPASS in (key, after[cache])
            or key != after[cache]]
