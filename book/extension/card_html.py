"""One card as HTML: the question in the open, everything else in a fold that needs no script."""

from __future__ import annotations

import html
from collections.abc import Mapping
from functools import cache

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from book.extension.bilingual import inline, spans
from book.pipeline.cards import layers
from book.pipeline.cards.claims import Claim, refuted_by
from book.pipeline.ground.long_lines import long_lines

_LEXER, _FORMATTER = PythonLexer(), HtmlFormatter(nowrap=True)
KINDS = {
    "predict": ("预测", "Predict"), "compare": ("比较", "Compare"), "bug": ("找错", "Find the bug"),
    "explain": ("解释", "Explain"), "estimate": ("估算", "Estimate"), "design": ("设计", "Design"),
}
LEVELS = {"junior": ("初级", "Junior"), "senior": ("高级", "Senior"), "staff": ("资深", "Staff")}
CLAIM_KINDS = {
    "wrong": ("错误", "wrong"), "outdated": ("过时", "outdated"),
    "misleading": ("误导", "misleading"), "incomplete": ("不完整", "incomplete"),
    "bug": ("代码有错", "buggy code"), "unverifiable": ("无法核实", "unverifiable"),
    "version": ("因版本而异", "depends on the version"), "myth": ("误传", "myth"),
}
LABELS = {
    "reveal": ("翻开答案", "Show the answer"), "output": ("输出", "Output"),
    "fixed": ("改好之后", "Fixed"), "points": ("好答案要说到", "A good answer covers"),
    "bonus": ("加分", "bonus"), "limit": ("如果追问", "If they push"),
    "myths": ("常见错答", "Common wrong answers"),
    "corrects": ("这张卡片反驳的说法", "Claims that this card refutes"),
    "follow_ups": ("追问", "Follow-ups"), "proof": ("证明", "Proof"),
    "sources": ("源码", "Sources"),
}


def label(key: str) -> str:
    return spans(*LABELS[key])


def both(texts: dict[str, str]) -> str:
    """A bilingual text of a card, its inline Markdown rendered; code alone needs no language."""
    if texts["zh"] == texts["en"]:
        return inline(texts["zh"])
    return spans(*(inline(texts[lang]) for lang in ("zh", "en")), escape=False)


@cache  # the page of a section, the drill's address and the drill's files show the same card
def code(source: str) -> str:
    body = long_lines(highlight(source, _LEXER, _FORMATTER))
    return f'<div class="highlight"><pre tabindex="0">{body}</pre></div>'


def snippet(card: dict, number: int = 0, key: str = "snippets") -> str:
    """The program of a variant as a reader expects it: what it imports, then its values."""
    lines = card[key][number].splitlines(keepends=True)
    values = len((card.get("variants") or [{}])[number])
    rest = lines[values:]
    imports = next((at for at, line in enumerate(rest)
                    if not line.startswith(("import ", "from "))), len(rest))
    return "".join([*rest[:imports], *lines[:values], *rest[imports:]])


def listing(key: str, items: list[str]) -> str:
    if not items:
        return ""
    return f"<h4>{label(key)}</h4><ul>{''.join(f'<li>{item}</li>' for item in items)}</ul>"


def claim_texts(claim: Claim) -> dict[str, str]:
    """A false claim as inline HTML, in each language with a small word for what is wrong."""
    zh, en = CLAIM_KINDS[claim["kind"]]
    return {"zh": f"{inline(claim['zh'])}<small>（{zh}）</small>",
            "en": f"{inline(claim['en'])} <small>({en})</small>"}


def point(entry: dict) -> str:
    return both(entry) + ("" if entry["must"] else f' <em>({label("bonus")})</em>')


def printed(card: dict, key: str) -> str:
    """What the snippet of the first variant printed when the proof ran; never typed by hand."""
    text = card.get(key, [""])[0]
    return f'<pre class="card-shown" tabindex="0">{html.escape(text)}</pre>' if text else ""


def said(card: dict) -> str:
    """The answer itself: one paragraph, or its layers, of which the limit has a heading."""
    if "answer" in card:
        return f"<p class='card-answer'>{both(card['answer'])}</p>"
    parts = []
    for name, texts in layers.of(card).items():
        heading = f"<h4>{label(name)}</h4>" if name in LABELS else ""
        parts.append(f"{heading}<p class='card-{name}'>{both(texts)}</p>")
    return f"<div class='card-answer'>{''.join(parts)}</div>"


def answer(card: dict, claims: Mapping[str, Claim]) -> str:
    """The inside of the fold."""
    parts = []
    if output := printed(card, "shown"):
        parts += [f"<h4>{label('output')}</h4>", output]
    parts.append(said(card))
    if "fixed" in card:
        parts += [f"<h4>{label('fixed')}</h4>", code(snippet(card, key="snippets_fixed")),
                  printed(card, "shown_fixed")]
    parts.append(listing("points", [point(entry) for entry in card["points"]]))
    parts.append(listing("myths", [f"<b>{both(d['text'])}</b><br>{both(d['why'])}"
                                   for d in card.get("distractors", [])]))
    parts.append(listing("corrects", [f"<b>{spans(**claim_texts(claim), escape=False)}</b>"
                                      for claim in refuted_by(card, claims)]))
    parts.append(listing("follow_ups", [f"<b>{both(f['q'])}</b><br>{both(f['a'])}"
                                        for f in card.get("follow_ups", []) if "q" in f]))
    parts.append(f'<details class="card-proof"><summary>{label("proof")}</summary>'
                 f'{code(card["proof"])}</details>')
    parts.append(listing("sources", [f'<a href="{html.escape(s["url"])}"><code>'
                                     f'{html.escape(s["target"])}</code></a>'
                                     for s in card["sources"]]))
    return "".join(parts)


def card_html(card: dict, claims: Mapping[str, Claim]) -> str:
    """The whole card, as an <article> with the card's id as its anchor.

    `claims` has the false claims by their ids, as `book.pipeline.cards.claims.read` gives them.
    """
    asks = f"{card['id']}-asks"  # who hears the page is told by it which card a button is of
    tags = f"{spans(*KINDS[card['kind']])} · {spans(*LEVELS[card['level']])}"
    asked = code(snippet(card)) if "code" in card else ""
    return (
        f'<article class="card" id="{card["id"]}" aria-labelledby="{asks}">'
        f'<p class="card-tags">{tags}</p><div class="card-question" id="{asks}" role="heading" '
        f'aria-level="3">{both(card["question"])}</div>'
        f"{asked}<details><summary>{label('reveal')}</summary>{answer(card, claims)}</details>"
        "</article>"
    )
