"""mini_dynamo does what Python does, and breaks where torch breaks: a corpus of programs by kind,
and random programs from a small grammar."""

import linecache

import pytest

import mini_dynamo  # noqa: F401  what is tested: the record of the counts depends on it
from book.pipeline.notebooks import notebook
from oracles import dynamo_agree, dynamo_differences, dynamo_programs, dynamo_shrink
from oracles.dynamo_cases import CASES
from tests.helpers.depth import cases

PROGRAMS = cases(120)

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def survey():
    """Each case under Python, mini_dynamo and torch.compile, run once for all tests."""
    return dynamo_agree.Survey()


# ---- the corpus ----------------------------------------------------------------------------------

def test_the_corpus_is_large_and_no_name_occurs_twice():
    names = [str(case) for case in CASES]
    assert len(names) == len(set(names)) >= 220


def test_every_program_does_what_it_does_in_python():
    """Results, what became of arguments and globals, prints, exceptions, gradients, identities."""
    wrong = [f"{case}{found}" for case in CASES if (found := dynamo_agree.unlike_python(case))]
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
def test_graphs_and_breaks_are_those_of_torch_or_listed(survey):
    print("\n" + table(survey))
    if not notebook.outputs_are_pinned_here():
        pytest.skip("the differences are listed for the torch and the Python that the book pins")
    differ = {f"{row.kind}: {row.name}": f"mini {row.mini}, torch {row.torch}"
              for row in survey.rows if not dynamo_agree.same_counts(row)}
    listed = dynamo_differences.reasons()
    unlisted = [f"not listed: {name}: {differ[name]}" for name in differ if name not in listed]
    gone = [f"differs no more: {name}" for name in listed if name not in differ]
    assert not unlisted + gone, "\n".join(unlisted + gone)


def table(survey):
    """Agreement by kind, as text."""
    lines = [f"{'kind':32}cases  like Python  torch like Python  counts like torch's"]
    lines += [f"{kind:32}{n['cases']:5}{n['like_python']:13}{n['torch_like_python']:19}"
              f"{n['counts_like_torch']:21}" for kind, n in survey.by_kind().items()]
    return "\n".join(lines)


def test_every_listed_difference_has_a_reason_and_one_entry():
    entries = [case for one in dynamo_differences.LISTED for case in one.cases]
    assert len(entries) == len(set(entries))
    assert set(entries) <= {str(case) for case in CASES}
    for one in dynamo_differences.LISTED:
        assert one.what
        assert len(one.reason.split()) > 5


# ---- random programs -----------------------------------------------------------------------------

def fails(text):
    return dynamo_agree.unlike_python(dynamo_programs.program(text))


def test_random_programs_do_what_they_do_in_python(counted):
    for seed in range(PROGRAMS):
        text = dynamo_programs.source(seed)
        if fails(text):
            small = dynamo_shrink.smallest(text, fails)
            pytest.fail(f"program {seed}, made small: {fails(small)}\n{small}", pytrace=False)
    linecache.clearcache()
    counted("random programs of mini_dynamo", PROGRAMS)
