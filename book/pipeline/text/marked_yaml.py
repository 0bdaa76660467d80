"""YAML that remembers the line of every value and refuses a key given twice."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import yaml

Place = tuple[str | int, ...]
Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # in C where PyYAML has it: 10 times faster


@dataclass
class Marked:
    """A parsed document.

    `lines` maps a place such as `("cards", 0, "answer", "zh")` to its line, counted from 1;
    `bodies` maps a literal block (`|`) to the line of its first line of content;
    `problems` holds `(line, text)` for syntax errors and repeated keys.
    """

    value: Any = None
    lines: dict[Place, int] = field(default_factory=dict)
    bodies: dict[Place, int] = field(default_factory=dict)
    problems: list[tuple[int, str]] = field(default_factory=list)

    def line(self, place: Place) -> int:
        """The line of a place, or of the nearest thing around it that exists."""
        while place and place not in self.lines:
            place = place[:-1]
        return self.lines.get(place, 1)


DEEPEST = 20  # a node that an alias puts into itself has no end


def parse(text: str) -> Marked:
    """Parse one YAML document; errors are in `problems`, never raised."""
    marked = Marked()
    loader = Loader(text)
    try:
        node = loader.get_single_node()
        marked.value = _value(loader, node, (), marked) if node else None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        marked.problems.append((line, f"not valid YAML: {error.problem or error.context}"))
    except yaml.YAMLError as error:
        marked.problems.append((1, f"not valid YAML: {str(error).splitlines()[0]}"))
    finally:
        loader.dispose()
    return marked


def _value(loader: yaml.SafeLoader, node: yaml.Node, place: Place, marked: Marked) -> Any:
    marked.lines.setdefault(place, node.start_mark.line + 1)
    if len(place) > DEEPEST:
        marked.problems.append((node.start_mark.line + 1, "stands in itself: write it out"))
        return None
    if isinstance(node, yaml.MappingNode):
        return _mapping(loader, node, place, marked)
    if isinstance(node, yaml.SequenceNode):
        return [_value(loader, item, (*place, i), marked) for i, item in enumerate(node.value)]
    if node.style == "|":
        marked.bodies[place] = node.start_mark.line + 2
    return _scalar(loader, node, marked)


def _scalar(loader: yaml.SafeLoader, node: yaml.Node, marked: Marked) -> Any:
    """A value such as a date or a number; None, and a problem, where it is none of its kind."""
    try:
        return loader.construct_object(node)
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        what = f"{node.value!r} is no {node.tag.rpartition(':')[2]}: put it in quotes ({error})"
        marked.problems.append((node.start_mark.line + 1, what))
    return None


def _mapping(
    loader: yaml.SafeLoader, node: yaml.MappingNode, place: Place, marked: Marked
) -> dict[Any, Any]:
    result: dict[Any, Any] = {}
    for key_node, value_node in node.value:
        key = loader.construct_object(key_node, deep=True)
        line = key_node.start_mark.line + 1
        if not isinstance(key, str):
            marked.problems.append((line, f"key {key!r} must be text: put it in quotes"))
            continue
        if key in result:
            first = marked.lines[*place, key]
            marked.problems.append((line, f"key '{key}' is given twice (first on line {first})"))
            continue
        marked.lines[*place, key] = line
        result[key] = _value(loader, value_node, (*place, key), marked)
    return result
