"""A valid card and a book around it, for tests of the card engine."""

import yaml

ZH = "视图和原张量共用一块存储，步长记录每走一步要跨过多少个元素。" * 4
EN = "A view shares the storage of its base and keeps its own sizes, strides and offset. " * 4


class _Dumper(yaml.SafeDumper):
    """Writes programs as literal blocks, as people do."""


def _text(dumper, value):
    style = "|" if "\n" in value else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Dumper.add_representer(str, _text)


def card(name="tensors-one", **changes):
    """A card that is well-formed and passes; a change to None takes the field out."""
    row = {
        "id": name,
        "section": "views",
        "kind": "explain",
        "level": "junior",
        "question": {"zh": "视图复制数据吗？", "en": "Does a view copy data?"},
        "answer": {"zh": ZH, "en": EN},
        "points": [
            {"must": True, "zh": "共用存储", "en": "shares the storage"},
            {"must": False, "zh": "步长", "en": "strides"},
        ],
        "proof": "import torch\nx = torch.ones(4)\nassert x.view(2, 2)._base is x\n",
        "sources": ["torch.Tensor.view"],
    }
    row.update(changes)
    return {key: value for key, value in row.items() if value is not None}


def layered(name="tensors-layers", **changes):
    """A card that answers in layers, with a limit."""
    row = {
        "answer": None,
        "line": {"zh": "视图不复制，字节是共用的。", "en": "A view shares the bytes of its base."},
        "because": {"zh": ZH, "en": EN},
        "limit": {"zh": "非连续的张量不一定有视图。", "en": "A strided tensor may have none."},
    }
    return card(name, **(row | changes))


def bug(name="tensors-bug", **changes):
    """A card of kind bug: the list is shared between calls."""
    program = "def add(x, seen{}):\n    {}seen.append(x)\n    return seen\nadd(1)\nprint(add(2))\n"
    row = {
        "kind": "bug",
        "code": program.format("=[]", ""),
        "fixed": program.format("=()", "seen = list(seen); "),
        "proof": "assert add(3) == [3]\nassert shown == '[2]'\n",
    }
    return card(name, **(row | changes))


def write_chapter(root, folder="01-tensors", **content):
    """Write a chapter.yaml below root, with a name and what else is given; return its path."""
    path = root / "chapters" / folder / "chapter.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    slug = folder.split("-", 1)[1]
    content = {"name": {"zh": "章", "en": slug.capitalize()}, **content}
    path.write_text(yaml.safe_dump(content, allow_unicode=True, sort_keys=False), "utf-8")
    return path


def write_cards(root, *cards, complete=False, folder="01-tensors", section="views"):
    """Write a chapter with these cards of a section below root and return their file."""
    place = write_chapter(root, folder, complete=complete).parent
    (place / "cards").mkdir(exist_ok=True)
    (place / f"{section}.md").write_text("# 视图 · Views\n", encoding="utf-8")
    text = yaml.dump(list(cards), Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=1000)
    path = place / "cards" / f"{section}.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def write_book(root, *cards, retired=(), **options):
    """A book of one chapter with one section; returns the file of its cards."""
    (root / "book").mkdir(exist_ok=True)
    (root / "book/errata.yaml").write_text(
        "T:\n  T01: {kind: wrong, chapter: 1}\n  T04: {kind: wrong, chapter: 1}\n", "utf-8"
    )
    (root / "book/retired-cards.yaml").write_text(yaml.safe_dump(list(retired)), "utf-8")
    return write_cards(root, *cards, **options)


def line_of(path, text):
    """Number of the first line that holds the text."""
    lines = path.read_text("utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)
