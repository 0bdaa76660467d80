"""Rules of mini_dynamo that look right and are not: three edge programs or the corpus find each."""

import pytest
import torch

import mini_dynamo
import mini_dynamo_bytecode
import mini_dynamo_calls
import mini_dynamo_effects
import mini_dynamo_guards
import mini_dynamo_trace
import mini_dynamo_wrap
from oracles import dynamo_agree
from oracles.dynamo_cases import CASES

pytestmark = pytest.mark.usefixtures("one_thread")


def under_other_modes(fn):
    """A call with gradients, then one without."""
    w = torch.ones(2, requires_grad=True)
    with_gradient = fn(w).requires_grad
    with torch.no_grad():
        return with_gradient, fn(w).requires_grad


def nested(x):
    with torch.no_grad():
        with torch.no_grad():
            y = x * 2
        return y + x


def errors_in_a_loop(x):
    for k in (0, 1, 2):
        try:
            x = x + (1 + 2 // k)
        except ZeroDivisionError:
            x = x - 1
    return x


def reads_the_mode(x):
    return x * 2 if torch.is_grad_enabled() else x.detach().requires_grad_()


EDGES = ((reads_the_mode, under_other_modes), (nested, under_other_modes),
         (errors_in_a_loop, lambda fn: fn(torch.ones(2)).tolist()))


def first_found():
    """The first program that is not as in Python, or None: three edges, then the corpus."""
    for fn, outcome in EDGES:
        try:
            same = outcome(mini_dynamo.compile(fn)) == outcome(fn)
        except Exception:
            same = False
        if not same:
            return fn.__name__
    for case in CASES:
        try:
            found = dynamo_agree.unlike_python(case)
        except Exception as error:                    # a wrong rule may also break the companion
            found = repr(error)
        if found:
            return f"{case}: {found}"
    return None


def holds(*args):
    return mini_dynamo_guards.Guard(None, f"holds {args[0]}", lambda state: True)


def equal_value(source, value):
    return mini_dynamo_guards.Guard(source, f"{source} ~ {value!r}", lambda now: now == value)


def only_the_type(source, function):
    kind = type(function)
    return mini_dynamo_guards.Guard(source, f"{source} callable", lambda now: type(now) is kind)


def keys_in_any_order(source, value):
    wanted = set(value)
    return mini_dynamo_guards.Guard(source, f"keys {source}", lambda now: set(now) == wanted)


def always_anew(key, recipe):
    return recipe


def no_changes(self, shadow):
    return lambda run: None


def append_all(self, shadow):
    target, fresh = self.of(shadow), self.container(shadow)
    return lambda run: (target(run).extend(fresh(run)) if isinstance(shadow, list)
                        else target(run).update(fresh(run)))


def as_an_output(self, value):
    self.outputs.append(value.node)
    place = len(self.outputs) - 1
    return lambda run: run.outputs[place].clone()


def written_at_once(self, f, name, value):
    f.globals[name] = value


def on_again_at_the_end(self, method):
    mode = method.switch.mode if method.name == "__enter__" else True
    self.graph.call_function(torch._C._set_grad_enabled, (mode,))
    return torch._C._set_grad_enabled(mode)


def stack_kept(self, position, error):
    found = self.program.handler(self.program.instructions[position].offset)
    if found is None:
        return False
    self.push(*([0] if found.lasti else []), error)
    self.jump(found.target)
    return True


def a_new_tensor_each_time(self, out, node):
    return mini_dynamo_trace.Traced(self, node, out) if isinstance(out, torch.Tensor) else out


def defaults_of_nobody(self, function, args, kwargs):
    self.find_globals(function)
    return mini_dynamo_calls.frame_of(function, args, kwargs, (), {})


GUARDS, TRACER, RECIPES = mini_dynamo_guards, mini_dynamo_trace.Tracer, mini_dynamo_effects.Recipes
WRONG = {
    "numbers compare by ==": (GUARDS, "equals", equal_value),
    "a function is any function": (GUARDS, "same_code", only_the_type),
    "keys in any order": (GUARDS, "keys", keys_in_any_order),
    "a sequence of any length": (GUARDS, "length", holds),
    "aliasing is not guarded": (GUARDS, "aliases", holds),
    "what was two may become one": (mini_dynamo.guards, "distinct", holds),
    "tensors are not guarded": (GUARDS, "tensor", holds),
    "types are not guarded": (GUARDS, "typed", holds),
    "an absent attribute stays absent": (GUARDS, "absent", holds),
    "nothing around the call matters": (GUARDS, "ambient", lambda: ()),
    "each use is a new object": (mini_dynamo_effects, "once", always_anew),
    "containers are not written back": (RECIPES, "content", no_changes),
    "changes come on top of what is there": (RECIPES, "content", append_all),
    "an argument comes back as a copy": (RECIPES, "tensor", as_an_output),
    "attributes are not written back": (RECIPES, "attribute", lambda *_: lambda run: None),
    "a global is written while tracing": (TRACER, "store_global", written_at_once),
    "no_grad ends with gradients on": (TRACER, "switch_gradients", on_again_at_the_end),
    "a handler finds the whole stack": (mini_dynamo_bytecode.Frame, "goto_handler", stack_kept),
    "add_ gives a new tensor": (TRACER, "traced", a_new_tensor_each_time),
    "a followed function has no defaults": (TRACER, "inline_frame", defaults_of_nobody),
    "a container never changed": (mini_dynamo_wrap, "picture", lambda container: None),
}


def test_the_corpus_finds_nothing_in_the_right_rules():
    assert first_found() is None


@pytest.mark.parametrize("rule", WRONG.values(), ids=WRONG)
def test_a_wrong_rule_is_found(rule, monkeypatch):
    where, name, wrong = rule
    monkeypatch.setattr(where, name, wrong)
    if name == "picture":
        monkeypatch.setattr(mini_dynamo_effects, "picture", wrong)
    assert first_found() is not None


def test_a_limit_that_is_ignored_is_found(monkeypatch):
    def graphs():
        fast = mini_dynamo.compile(lambda x, k: x * k)
        for k in range(10):
            fast(torch.ones(1), k)
        return mini_dynamo.stats(fast).graphs
    assert graphs() == 8
    monkeypatch.setattr(mini_dynamo, "RECOMPILE_LIMIT", 99)
    assert graphs() == 10
