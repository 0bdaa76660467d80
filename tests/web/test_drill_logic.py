"""The drill: its schedule is py-fsrs's, its events obey the schema, its logic holds in Node."""

import copy
import itertools
import json
import random
from datetime import UTC, datetime, timedelta

import fsrs
import pytest
from jsonschema import Draft202012Validator

from book.extension import drill
from book.pipeline.ground.paths import ROOT
from oracles.web.javascript import evaluate
from tests.helpers.card_examples import card, write_cards, write_chapter
from tests.helpers.depth import cases

pytestmark = pytest.mark.programs("book/web/**/*", "tests/web/**/*", "package-lock.json")

WEB = ROOT / "book" / "web" / "drill"
SCHEMA = json.loads((WEB / "event.schema.json").read_text("utf-8"))
EVENT, MARK = ({"$ref": f"#/$defs/{name}", "$defs": SCHEMA["$defs"]} for name in ("event", "mark"))
SEQUENCES = cases(30)
DAY = 86_400_000
TURN = 4 * 3_600_000


def in_javascript(module, expression, data=None):
    """The value of an expression over a module of the drill as `m` and `data`."""
    return evaluate(WEB / module, expression, data)


def helper(call):
    """What a function that the Node suites share gives, such as `event(1)`."""
    return evaluate(ROOT / "tests" / "web" / "drill" / "helpers.mjs", f"m.{call}")


# ---- the schedule -------------------------------------------------------------------------------

def random_history(rng):
    """Grades with the drill days on which they were given, several on one day among them."""
    day, history = rng.randint(20_000, 21_000), []
    for _ in range(rng.randint(1, 14)):
        history.append((day, rng.choice([1, 2, 3, 3, 3, 4])))
        day += rng.choice([0, 0, 1, 1, 2, 3, 8, 21, 60, 200])
    return history


def as_events(event, history, zone):
    """Events in the first minutes of their drill days, or in the last, at one place on earth."""
    for number, (day, grade) in enumerate(history):
        minute = number if day % 2 else 1400 + number
        time = day * DAY + TURN + (minute - zone) * 60_000
        yield event | {"id": f"00000000-0000-4000-8000-{number:012x}", "time": time, "zone": zone,
                       "grade": grade}


def by_py_fsrs(history):
    """Stability, difficulty and interval after each review, with days as the only time."""
    scheduler = fsrs.Scheduler(learning_steps=(), relearning_steps=(), enable_fuzzing=False)
    state, rows = fsrs.Card(), []
    for day, grade in history:
        now = datetime(2000, 1, 1, tzinfo=UTC) + timedelta(days=day - 20_000)
        state, _ = scheduler.review_card(state, fsrs.Rating(grade), now)
        rows.append([state.stability, state.difficulty, (state.due - now).days])
    return rows


@pytest.fixture(scope="module")
def event():
    """A valid event, as the Node suites use it."""
    return helper("event(1)")


def test_the_schedule_is_that_of_py_fsrs_to_four_decimals(event):
    rng = random.Random(11)
    histories = [random_history(rng) for _ in range(SEQUENCES)]
    zones = [rng.choice([-480, 0, 60, 345, 480, 840]) for _ in histories]
    data = [list(as_events(event, *pair)) for pair in zip(histories, zones, strict=True)]
    rows = in_javascript("schedule.js", """data.map((events) => events.map((_, i) => {
        const state = m.fold(events.slice(0, i + 1)).get(events[0].card);
        return [state.stability, state.difficulty, state.interval];
    }))""", data)
    for history, found in zip(histories, rows, strict=True):
        for row, expected in zip(found, by_py_fsrs(history), strict=True):
            # ts-fsrs rounds each step to 8 decimals, which shows in stabilities of years
            assert row == pytest.approx(expected, abs=5e-5, rel=1e-6), history
    same_day = sum(a[0] == b[0] for h in histories for a, b in itertools.pairwise(h))
    assert same_day > SEQUENCES / 3  # the histories go through both formulas
    assert sum(grade == 1 for history in histories for _, grade in history) > SEQUENCES / 3


def test_the_parameters_are_those_of_py_fsrs():
    parameters = in_javascript("schedule.js", "m.PARAMETERS")
    scheduler = fsrs.Scheduler()
    assert parameters["w"] == list(scheduler.parameters)
    assert parameters["request_retention"] == scheduler.desired_retention == 0.9
    assert parameters["maximum_interval"] == scheduler.maximum_interval
    assert parameters["enable_fuzz"] is False


# ---- the event format ---------------------------------------------------------------------------

VALUES = [None, True, False, -1, 0, 1, 2, 4, 5, 900, 901, 1.5, 2.0, 8.64e15, 8.64e15 + 2, "", "a",
          "a-b", "A-b", "a--b", "sure", "zh", "both", "answer", "d-0123abcd", "0123456789ab",
          "0123456789abcdef", "read", "prediction", "unsure", "a/b", "a/", "A_1",
          "00000000-0000-4000-8000-000000000001", "x" * 65, [], [True, False],
          [0], [True] * 17, {}, {"name": "ts-fsrs", "version": "1", "parameters": "0" * 16},
          {"name": "ts-fsrs", "version": "1", "parameters": "0" * 15},
          {"name": "ts-fsrs", "version": "é", "parameters": "0" * 16}]


def mutants(event):
    """The event with each field replaced by each value, left out, and with a field too many."""
    yield event
    yield event | {"note": "x"}
    for field in event:
        yield {name: value for name, value in event.items() if name != field}
        for value in VALUES:
            yield event | {field: copy.deepcopy(value)}


def test_page_and_json_schema_accept_the_same_events(event):
    validator = Draft202012Validator(EVENT)
    candidates = list(mutants(event))
    accepted = in_javascript("events.js", "data.map((event) => m.problem(event) === null)",
                             candidates)
    expected = [validator.is_valid(candidate) for candidate in candidates]
    differing = [candidate for candidate, a, b in zip(candidates, accepted, expected, strict=True)
                 if a != b]
    assert differing == []
    assert 30 < sum(expected) < len(candidates) - 300


@pytest.mark.parametrize("made", ["mark(1)", "prediction(1)", """prediction(1,
    {response: "unsure", right: false, confidence: null})""", """prediction(1,
    {response: "d-0123abcd", right: false})"""])
def test_page_and_json_schema_accept_the_same_marks(made):
    validator = Draft202012Validator(MARK)
    candidates = list(mutants(helper(made)))
    accepted = in_javascript("marks.js", "data.map((mark) => m.problem(mark) === null)", candidates)
    expected = [validator.is_valid(candidate) for candidate in candidates]
    differing = [candidate for candidate, a, b in zip(candidates, accepted, expected, strict=True)
                 if a != b]
    assert differing == []
    assert 10 < sum(expected) < len(candidates) - 100


def test_the_format_of_marks_is_final():
    """A field less, more or renamed would lose what readers did: make schema 2 instead."""
    assert sorted(helper("prediction(1)")) == [
        "cell", "confidence", "device", "edition", "id", "kind", "lang", "page", "response",
        "right", "schema", "time", "zone"]


def test_an_exported_file_obeys_the_json_schema(event):
    marks = [helper("mark(1)"), helper("prediction(2)")]
    text = in_javascript("file.js", "m.exportText(data)", {"events": [event], "marks": marks})
    Draft202012Validator(SCHEMA).validate(json.loads(text))
    assert [json.loads(text)[name] for name in ("events", "marks")] == [[event], marks]


@pytest.mark.parametrize("changes", [{}, {"schema": 2}, {"schema": 2, "marks": []},
                                     {"schema": 3, "marks": []}, {"marks": [{}]}])
def test_page_and_json_schema_accept_the_same_files(changes):
    content = {"format": "pytorch-inside-out-progress", "schema": 1, "events": []} | changes
    accepted = in_javascript("file.js", """(() => {
        try { return Boolean(m.importText(JSON.stringify(data))); } catch { return false; } })()""",
        content)
    assert accepted == Draft202012Validator(SCHEMA).is_valid(content)


def test_schema_version_1_is_final(event):
    """A field less, more or renamed would lose readers' progress: make schema 2 instead."""
    assert sorted(event) == [
        "button", "card", "confidence", "device", "duration", "edition", "elapsed", "grade", "id",
        "lang", "mode", "points", "response", "scheduler", "schema", "time", "variant", "zone"]
    assert sorted(event["scheduler"]) == ["name", "parameters", "version"]
    assert SCHEMA["$defs"]["event"]["required"] == list(event)


# ---- the files of cards -------------------------------------------------------------------------

def write_book(root, **chapters):
    """A book with nothing but proved cards and errata."""
    (root / "book").mkdir()
    (root / "book" / "errata.yaml").write_text(
        "T:\n  T04: {kind: wrong, chapter: 1, zh: 必须连续, en: It must be contiguous}\n", "utf-8")
    for folder, rows in chapters.items():
        for section in dict.fromkeys(row["section"] for row in rows):
            ours = [row for row in rows if row["section"] == section]
            path = write_cards(root, *ours, folder=folder, section=section)
            stored = {row["id"]: RESULT | SHOWN.get(row["id"], {}) for row in ours}
            path.with_suffix(".json").write_text(json.dumps({"cards": stored}), encoding="utf-8")
    return root


SHOWN = {"tensors-shown": {"shown": ["<True>"]}}
RESULT = {"digest": "0123456789abcdef" * 4,
          "sources": {"torch.Tensor.view": "https://github.com/pytorch/pytorch"}}


def contents(root, documents=()):
    files = drill.files(root, list(documents))
    return {name: json.loads(text) for name, text in files.items()}


def test_the_address_of_a_file_changes_with_its_text(tmp_path):
    root = write_book(tmp_path, **{"01-tensors": [card()]})
    before = contents(root)[drill.INDEX]["files"]
    write_cards(root, card(question={"zh": "换一问？", "en": "Another question?"}))
    assert contents(root)[drill.INDEX]["files"] != before


def test_texts_are_rendered_and_code_is_escaped(tmp_path):
    row = card("tensors-shown", question={"zh": "`a<b` 是什么？", "en": "What is `a<b`?"},
               code="print(1 < 2)\n")
    root = write_book(tmp_path, **{"01-tensors": [row]})
    text = contents(root)["drill-cards/01-tensors/views.json"][row["id"]]
    assert text["question"]["en"] == "What is <code>a&lt;b</code>?"
    assert "&lt;" in text["snippets"][0]
    assert text["shown"] == ["<True>"]  # the page sets it as text


def test_a_chapter_that_is_no_machine_is_in_the_drill_under_its_own_name(tmp_path):
    root = write_book(tmp_path, **{"06-memory": [card("memory-one")], "00-start": [card("start-x")],
                                   "10-systems": [card("systems-one")]})
    write_chapter(root, "03-modules")  # without cards
    index = contents(root)[drill.INDEX]
    assert [(row["number"], row["slug"], row["name"]["en"]) for row in index["chapters"]] == [
        (0, "00-start", "Start"), (6, "06-memory", "Memory"), (10, "10-systems", "Systems")]
    assert [row["chapter"] for row in index["cards"]] == ["00-start", "06-memory", "10-systems"]


def test_cards_come_in_the_order_of_the_pages_then_those_without_a_page(tmp_path):
    names = ["alias", "copies", "views", "strides"]
    root = write_book(tmp_path, **{"01-tensors": [card(f"tensors-{name}", section=name)
                                                  for name in names]})
    pages = ["chapters/01-tensors/views", "chapters/01-tensors/alias"]
    index = contents(root, pages)[drill.INDEX]
    assert [row["section"] for row in index["cards"]] == ["views", "alias", "copies", "strides"]


def test_a_follow_up_that_names_a_card_leads_to_its_page(tmp_path):
    rows = [card(id="tensors-one", section="other",
                   follow_ups=["tensors-two", "tensors-missing"]),
            card(id="tensors-two", section="views")]
    root = write_book(tmp_path, **{"01-tensors": rows})
    texts = contents(root, ["chapters/01-tensors/views"])
    text = texts["drill-cards/01-tensors/other.json"]["tensors-one"]
    assert [entry["page"] for entry in text["followUps"]] == [
        "../chapters/01-tensors/views.html#tensors-two"]
    assert text["page"] is None


def test_claims_that_options_refute_are_told_with_the_card_s_own(tmp_path):
    row = card(corrects=["T04"], distractors=[{"text": {"zh": "x", "en": "x"},
                 "why": {"zh": "因为", "en": "since"}, "corrects": ["T04"]}])
    root = write_book(tmp_path, **{"01-tensors": [row]})
    text = contents(root)["drill-cards/01-tensors/views.json"][row["id"]]
    assert text["corrects"] == [{"zh": "必须连续<small>（错误）</small>",
                                 "en": "It must be contiguous <small>(wrong)</small>"}]
    assert text["myths"][0]["output"] == "x"
    assert text["myths"][0]["key"] == "d-2d711642"  # of sha256("x")


def test_every_kind_and_level_has_words():
    schema = json.loads((ROOT / "book/pipeline/cards/schema.json").read_text("utf-8"))
    properties = schema["$defs"]["card"]["properties"]
    names = {"kind": properties["kind"]["enum"], "level": properties["level"]["enum"]}
    words = in_javascript("texts.js", """Object.entries(data).flatMap(([key, names]) =>
        names.map((name) => m.texts[key](name)))""", names)
    assert len(words) == sum(map(len, names.values()))
    assert all(isinstance(text, str) and text for pair in words for text in pair)
