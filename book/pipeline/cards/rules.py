"""What a card must be: the schema's errors in plain words, and rules a schema cannot hold."""

from __future__ import annotations

import ast
import difflib
import functools
import json
import keyword
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from book.pipeline.cards import layers
from book.pipeline.text.marked_yaml import Place

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator, ValidationError

SCHEMA = Path(__file__).with_name("schema.json")
TYPES = {
    "string": "text (put it in quotes)",
    "boolean": "true or false",
    "array": "a list",
    "object": "a mapping",
}
Finding = tuple[Place, str]


@functools.cache
def validator(part: str = "") -> Draft202012Validator:
    """The schema of a section's cards, or the named part of it, ready to use."""
    from jsonschema import Draft202012Validator  # here: a run on a GPU goes without it

    whole = json.loads(SCHEMA.read_text(encoding="utf-8"))
    named = {"$ref": f"#/$defs/{part}", "$defs": whole["$defs"]}
    return Draft202012Validator(named if part else whole)


def field_name(place: Place) -> str:
    """`("points", 1, "zh")` as a person writes it: `points[1].zh`."""
    return "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in place).lstrip(".")


def schema_errors(document: Any, part: str = "") -> Iterator[Finding]:
    """`(place, text)` of each breach; `{name}` in the text stands for the place's own name."""
    seen: set[Finding] = set()
    for error in validator(part).iter_errors(document):
        for finding in _in_words(error):
            if finding not in seen:
                seen.add(finding)
                yield finding


def _in_words(error: ValidationError) -> Iterator[Finding]:
    place, value, rule = tuple(error.absolute_path), error.instance, error.validator_value
    remedy = error.schema.get("$comment", "") if isinstance(error.schema, dict) else ""
    match error.validator:
        case "required":
            for key in rule:
                if key not in value:
                    yield (*place, key), "{name} is missing"
        case "additionalProperties" if not rule:
            for key in value.keys() - error.schema["properties"].keys():
                yield (*place, key), _unknown(key, list(error.schema["properties"]))
        case "type":
            kinds = [rule] if isinstance(rule, str) else rule
            yield place, "{name} must be " + " or ".join(TYPES.get(kind, kind) for kind in kinds)
        case "enum":
            yield place, f"{{name}} is {_quote(value)}: choose one of {', '.join(rule)}"
        case "minItems" | "maxItems":
            sizes = [f"{w} {error.schema[k]}" for k, w in
                     (("minItems", "at least"), ("maxItems", "at most")) if k in error.schema]
            yield place, f"{{name}} has {len(value)} items: give {' and '.join(sizes)}"
        case "oneOf" if isinstance(value, dict):
            yield place, _braces(layers.wrong_form(value))
        case "oneOf":
            pass  # no mapping at all, which `type` says
        case "pattern" | "not" | "contains" | "const":
            yield place, f"{{name}} is {_quote(value)}: {remedy}"
        case _:
            yield place, f"{{name}}: {_braces(error.message)}"


def _unknown(key: str, known: list[str]) -> str:
    close = difflib.get_close_matches(key, known, n=1)
    advice = f"did you mean '{close[0]}'" if close else "take it out; known: " + ", ".join(known)
    return "unknown key '{name}': " + advice


def _braces(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _quote(value: Any) -> str:
    text = repr(value)
    return _braces(text if len(text) <= 40 else text[:37] + "…'")


def content_errors(card: Mapping[str, Any]) -> Iterator[Finding]:
    """Breaches of the rules on length, variants and proof of one card."""
    yield from layers.errors(card)
    yield from _variant_errors(card.get("variants"))
    if isinstance(card.get("proof"), str):
        yield from _proof_errors(card["proof"])


def _variant_errors(variants: Any) -> Iterator[Finding]:
    rows = [row for row in variants if isinstance(row, dict)] if isinstance(variants, list) else []
    for i, row in enumerate(rows):
        for name in row:
            if not name.isidentifier() or keyword.iskeyword(name) or name == "shown":
                yield ("variants", i, name), f"variants[{i}]: '{name}' is no name for a variable"
        if row.keys() != rows[0].keys():
            text = f"variants[{i}] must set the same names as the first: {', '.join(rows[0])}"
            yield ("variants", i), text


# A display that is not empty, a function and a generator hold whatever stands in them.
ALWAYS_TRUE = (ast.Constant, ast.Tuple, ast.JoinedStr, ast.List, ast.Set, ast.Dict, ast.Lambda,
               ast.GeneratorExp)


def _proof_errors(proof: str) -> Iterator[Finding]:
    try:
        tree = ast.parse(proof)
    except SyntaxError as error:
        line = error.lineno or 1  # Python names none where a character is not allowed at all
        yield ("proof", line), f"proof line {line}: SyntaxError: {error.msg}"
        return
    asserts = [node for node in ast.walk(tree) if isinstance(node, ast.Assert)]
    if not asserts:
        yield ("proof",), "proof has no assert: state the answer's facts as assertions"
    for node in asserts:
        if isinstance(node.test, ALWAYS_TRUE):
            text = f"assert on line {node.lineno} of the proof tests a constant: test a fact"
            yield ("proof", node.lineno), text


def named_ids(card: Mapping[str, Any]) -> Iterator[Finding]:
    """`(place, id)` for each card that this one names."""
    for key in ("after", "confusable", "follow_ups"):
        names = card.get(key)
        for i, name in enumerate(names if isinstance(names, list) else []):
            if isinstance(name, str):
                yield (key, i), name


def refuted(card: Mapping[str, Any]) -> Iterator[Finding]:
    """`(place, errata id)` for each false claim that the card or a distractor of it corrects."""
    wrong = card.get("distractors")
    parts: list[tuple[Place, Any]] = [((), card)]
    wrong = wrong if isinstance(wrong, list) else []
    parts += [(("distractors", i), part) for i, part in enumerate(wrong)]
    for place, part in parts:
        names = part.get("corrects") if isinstance(part, dict) else None
        for i, name in enumerate(names if isinstance(names, list) else []):
            yield (*place, "corrects", i), str(name)


def refuted_ids(card: Mapping[str, Any]) -> list[str]:
    """Errata ids of these claims, each once."""
    return sorted({name for _, name in refuted(card)})
