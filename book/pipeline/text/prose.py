"""Rules for a text in two languages: each by itself, and the two compared.

`Text` reads Markdown as the page does; the rules are tables. A finding is `(lang, line, text)`,
`line` counted from 0 within the text of that language.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache

import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.dollarmath import dollarmath_plugin

from book.pipeline.ground.paths import ROOT

TERMS = ROOT / "book" / "terms.yaml"
Finding = tuple[str, int, str]

# In prose, inline code and maths are replaced by one character each.
CODE, MATHS = "\ue000", "\ue001"
HAN = r"[\u3400-\u9fff々〇]"
LATIN = rf"[A-Za-z0-9{CODE}{MATHS}]"
SINGLE = "，。；：？！、（）【】《》"
WIDE_SEAM = re.compile(rf"(?:{HAN}|[{SINGLE}]){{2}}")


# ---- reading -----------------------------------------------------------------------------------

@dataclass
class Text:
    """A Markdown text: its prose line by line, and what both languages must share."""

    prose: list[tuple[int, str]] = field(default_factory=list)
    parts: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    headings: list[tuple[int, int, str]] = field(default_factory=list)  # (line, level, source)
    blocks: list[tuple[int, str, str]] = field(default_factory=list)  # (line, token type, info)
    images: list[tuple[int, str]] = field(default_factory=list)  # (line, alt text)
    joined: list[tuple[int, str]] = field(default_factory=list)  # (line, what its end joins)


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark").enable("table").use(dollarmath_plugin)


@cache
def read(markdown: str) -> Text:
    """Parse once; the result is shared, so callers must not change it."""
    text, line, level = Text(), 0, 0
    for token in _parser().parse(markdown):
        line = token.map[0] if token.map else line
        if token.nesting >= 0 and token.type != "inline":
            text.blocks.append((line, token.type, token.info.strip()))
        if token.type in ("fence", "code_block", "math_block"):
            kind = "maths" if token.type == "math_block" else "code block"
            text.parts[kind].add(_squeeze(token.content))
        elif token.type in ("heading_open", "heading_close"):
            level = int(token.tag[1]) if token.nesting == 1 else 0
        elif token.type == "inline":
            if level:
                text.headings.append((line, level, token.content))
            _read_inline(token, line, text)
    return text


def _read_inline(token: Token, line: int, text: Text) -> None:
    current, first = "", len(text.prose)
    soft = [child.type == "softbreak" for child in token.children if child.type.endswith("break")]
    for child in token.children:
        if child.type in ("softbreak", "hardbreak"):
            text.prose.append((line, current))
            line, current = line + 1, ""
        else:
            current += _read_part(child, line, text)
    text.prose.append((line, current))
    lines = text.prose[first:]
    text.joined += [(number, before[-1:] + after[:1]) for is_soft, (number, before), (_, after)
                    in zip(soft, lines, lines[1:], strict=False) if is_soft]


def _read_part(part: Token, line: int, text: Text) -> str:
    """Note what a part of a line holds; its characters in the prose."""
    match part.type:
        case "code_inline":
            text.parts["inline code"].add(part.content)
            return CODE
        case "math_inline":
            text.parts["maths"].add(_squeeze(part.content))
            return MATHS
        case "image":
            text.parts["image"].add(part.attrs["src"])
            text.images.append((line, part.content))
        case "link_open":
            text.parts["link"].add(part.attrs["href"])
        case "html_inline":
            text.blocks.append((line, "html_inline", ""))
            return ""
    return part.content


def _squeeze(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


# ---- each language by itself -------------------------------------------------------------------

def _rules(*rows: tuple[str, str]) -> list[tuple[re.Pattern, str]]:
    return [(re.compile(pattern, re.I), advice) for pattern, advice in rows]


# (what is wrong, how to mend it); {} is the place found.
MARKUP_RULES = _rules(
    (r"^:{3,}", "MyST directive; only CommonMark, tables, $maths$ and plain links"),
    (rf"\{{[\w:.+-]+\}}(?={CODE})", "MyST role {}; write plain Markdown"),
    (r"^\([\w:.-]+\)=\s*$", "MyST label {}; headings have ids of their own"),
    (r"^%", "MyST comment; take it out"),
    (r"\[\^[^\]]+\]", "footnote {}; put it in the text"),
    (r"\{\{.*?\}\}", "MyST substitution {}; write the text itself"),
    (r"\*\*", "`**` that Markdown does not read as bold; keep punctuation outside the asterisks"),
    (r"\]\(torch:", "`](torch:` is not read as a link; mend the brackets around it"),
)
ZH_RULES = _rules(
    (rf"{HAN}[,;:?!](?!\d)|[,;:](?=\s*{HAN})|{CODE}[,;:](?=\s|$)|{HAN}\.(?=\s|$)",
     "half-width punctuation in 「{}」; use ，。；：？"),
    (rf"{HAN}\s?\(|\)\s?{HAN}|\(\s?{HAN}|{HAN}\s?\)", "half-width bracket in 「{}」; use （）"),
    (rf"{HAN}{LATIN}|{LATIN}{HAN}", "no space in 「{}」; put one between Chinese and Latin text"),
    (rf"[ \t][{SINGLE}]|[{SINGLE}][ \t]+(?=\S)|“[ \t]|[ \t]”",
     "space beside full-width punctuation in 「{}」; take it out"),
    (r"\"|[「」『』]", "quotation mark {}; use “ ” in Chinese"),
    (r"\.{3}|。。", "{} for an ellipsis; use ……"),
    (r"--", "-- for a dash; use ——"),
    (r"[Ａ-Ｚａ-ｚ０-９＋－＝＊／％\u3000]", "full-width {}; write it half-width"),
    (r"！", "exclamation mark; state the fact"),
    (r"您", "您; address the reader as 你"),
    (r"进行(?!中)", "padding 进行; use the verb itself"),
    (r"使得", "padding 使得; say what happens in a sentence of its own"),
    (r"(?:值得|需要)注意的是|众所周知|不言而喻", "padding {}; begin with the fact"),
    (r"(?:对于|对)[^，。；：]{1,20}(?:来说|而言)", "padding 「{}」; name the subject at once"),
    (r"(?<![相应适正恰充担])当(?![前作中成然地初])[^，。；：？]{1,25}"
     r"(?<![同及随平有暂届此何小实耗定超延计用])时(?![间候刻序长钟常延机])",
     "「{}」; write 「…时」 without 当, or 如果"),
)
EN_RULES = _rules(
    (r"[\u3000-\u303f\u3400-\u9fff\uff00-\uffef]+", "Chinese {} in English text; write English"),
    (r"(?<!\w)(?:simply|powerful(?:ly)?|delv(?:e|es|ed|ing)|seamless(?:ly)?|leverag(?:e|es|ed|ing)|"
     r"utili[sz](?:e|es|ed|ing)|basically|obviously|game[- ]chang\w+|cutting[- ]edge)(?!\w)",
     "`{}`; use the plain word or none"),
    (r"it(?: is|'s|’s) (?:worth|important) (?:noting|to note)|worth noting|needless to say|"
     r"(?:let(?: us|'s|’s) )?dive into|in order to|as we (?:all )?know",
     "padding `{}`; begin with the fact"),
    (r"!", "exclamation mark; state the fact"),
)
BLOCKS = {"html_block": "raw HTML; write Markdown", "html_inline": "raw HTML; write Markdown"}


def alone(lang: str, markdown: str) -> Iterator[Finding]:
    """Findings in a text of one language."""
    text = read(markdown)
    for line, _, heading in text.headings:
        yield lang, line, f"heading '{heading}' among prose; give it a cell without lang"
    yield from ((lang, line, what) for line, what in markup(text))
    for line, prose in text.prose:
        yield from ((lang, line, what) for what in style(lang, prose))
    for line, seam in text.joined:
        if lang == "zh" and WIDE_SEAM.fullmatch(seam):
            yield lang, line, "line break inside Chinese, a space on the page; join the lines"


def style(lang: str, prose: str) -> Iterator[str]:
    """What the rules of a language find in one line of prose, code already taken out."""
    for pattern, advice in ZH_RULES if lang == "zh" else EN_RULES:
        if match := pattern.search(prose):
            yield advice.format(_shown(match[0]))


def markup(text: Text) -> Iterator[tuple[int, str]]:
    """(line, what) for markup that shows as raw text somewhere a notebook is opened."""
    for line, kind, info in text.blocks:
        if kind in BLOCKS:
            yield line, BLOCKS[kind]
        if kind == "fence" and info.startswith("{"):
            yield line, f"MyST directive {info}; only CommonMark in a cell, {{code-cell}} outside"
    for line, prose in text.prose:
        for pattern, advice in MARKUP_RULES:
            if match := pattern.search(prose):
                yield line, advice.replace("{}", _shown(match[0]))


def _shown(found: str) -> str:
    return found.replace(CODE, "`…`").replace(MATHS, "$…$")


# ---- terms -------------------------------------------------------------------------------------

@dataclass(frozen=True)
class Term:
    """A row of terms.yaml with refused forms; see the head of that file."""

    en: str
    zh: str
    refused: re.Pattern
    allowed: re.Pattern | None
    when: re.Pattern | None
    unless: re.Pattern | None


@cache
def terms() -> list[Term]:
    rows = yaml.safe_load(TERMS.read_text(encoding="utf-8"))
    return [Term(row["en"], row["zh"], _refused(row), _any(row.get("allow")),
                 _words(row.get("when")), _words(row.get("unless")))
            for row in rows if row.get("refuse") or row.get("refuse_pattern")]


def _refused(row: dict) -> re.Pattern:
    forms = [re.escape(form) for form in row.get("refuse", [])]
    return re.compile("|".join([*forms, *row.get("refuse_pattern", [])]))


def _any(phrases: list[str] | None) -> re.Pattern | None:
    return re.compile("|".join(map(re.escape, phrases))) if phrases else None


def _words(words: list[str] | None) -> re.Pattern | None:
    return re.compile(r"\b(?:" + "|".join(map(re.escape, words)) + ")", re.I) if words else None


def refused_terms(zh: str, en: str) -> Iterator[Finding]:
    """Refused Chinese forms; `when` and `unless` look at the English of the same pair."""
    for term in terms():
        if (term.when and not term.when.search(en)) or (term.unless and term.unless.search(en)):
            continue
        for line, prose in read(zh).prose:
            rest = term.allowed.sub("", prose) if term.allowed else prose
            if match := term.refused.search(rest):
                yield "zh", line, f"「{match[0]}」 for {term.en}; write {term.zh}"


# ---- the two compared --------------------------------------------------------------------------

UNITS = {
    "B": r"B\b|bytes?\b|字节", "bit": r"bits?\b|位(?!置)",
    "×": r"×(?!\s?\d)|x\b|times\b|fold\b|倍",
    "%": r"%|percent\b|百分点", "s": r"s\b|seconds?\b|秒", "ms": r"ms\b|milliseconds?\b|毫秒",
    "µs": r"[uµμ]s\b|microseconds?\b|微秒", "ns": r"ns\b|nanoseconds?\b|纳秒",
    "min": r"min(?:utes?)?\b|分钟", "h": r"h\b|hours?\b|小时", "day": r"days?\b|天",
    **{unit: unit + r"\b" for unit in
       ("KB", "MB", "GB", "TB", "PB", "KiB", "MiB", "GiB", "TiB", "kHz", "MHz", "GHz",
        "FLOPs", "FLOPS", "GFLOPS", "TFLOPS", "Gbit")},
}
SCALES = {"万": 10_000, "亿": 10**8, "百万": 10**6, "千": 1000, "thousand": 1000,
          "million": 10**6, "billion": 10**9}
NUMBER_WORDS = {word: str(value) for value, words in enumerate(
    ("zero 零", "one once 一", "two twice double 二 两", "three 三", "four 四", "five 五", "six 六",
     "seven 七", "eight 八", "nine 九", "ten 十", "eleven 十一", "twelve 十二"))
    for word in words.split()}
NUMBER = re.compile(
    r"(?<![A-Za-z0-9_.])(?P<digits>\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?P<rest>(?:\.\d+)*)"
    rf"(?:\s?(?P<scale>{'|'.join(sorted(SCALES, key=len, reverse=True))}))?(?:[\s-]?(?:"
    + "|".join(f"(?P<u{i}>{pattern})" for i, pattern in enumerate(UNITS.values())) + "))?"
)


def compared(zh: str, en: str) -> Iterator[Finding]:
    """What stands in one text only, of the things that both must hold."""
    one, two = read(zh), read(en)
    for kind in ("inline code", "maths", "link", "image", "code block"):
        yield from _differences(kind, one.parts[kind], two.parts[kind])
    numbers, others = _numbers(one), _numbers(two)
    yield from _differences(
        "number",
        {n for n in numbers if _counts(n, numbers[n])} - others.keys() - _number_words(two),
        {n for n in others if _counts(n, others[n])} - numbers.keys() - _number_words(one))
    for number in sorted(numbers.keys() & others.keys()):
        units, other_units = numbers[number] - {""}, others[number] - {""}
        if units and other_units and units != other_units:
            yield "zh", 0, (f"{number} is in {'/'.join(sorted(units))} in Chinese and in "
                            f"{'/'.join(sorted(other_units))} in English; mend the wrong one")


def _differences(kind: str, one: set[str], two: set[str]) -> Iterator[Finding]:
    for lang, name, missing in (("zh", "Chinese", one - two), ("en", "English", two - one)):
        if missing:
            shown = ", ".join(f"`{part}`" for part in sorted(missing))
            yield lang, 0, f"{kind} only in {name}: {shown}; say the same in both"


def _numbers(text: Text) -> dict[str, set[str]]:
    """Each number in the prose, with the units it carries ("" for none)."""
    found: dict[str, set[str]] = defaultdict(set)
    for _, prose in text.prose:
        for match in NUMBER.finditer(prose):
            value = match["digits"].replace(",", "") + match["rest"]
            if value.count(".") < 2:  # two points make a version
                value = f"{(Decimal(value) * SCALES.get(match['scale'], 1)).normalize():f}"
            unit = [u for i, u in enumerate(UNITS) if match[f"u{i}"]]
            found[value].add(unit[0] if unit else "")
    return found


def _number_words(text: Text) -> set[str]:
    """Small numbers written as words, which may stand for a figure in the other language."""
    whole = "\n".join(prose for _, prose in text.prose)
    return {value for word, value in NUMBER_WORDS.items()
            if re.search(word if ord(word[0]) > 127 else rf"\b{word}", whole, re.I)}


def _counts(number: str, units: set[str]) -> bool:
    """Whether a number must stand in both: decimals, those from 10 on, quantities except "one"."""
    return "." in number or Decimal(number) >= 10 or (number != "1" and bool(units - {""}))


def pair(zh: str, en: str) -> list[Finding]:
    """All findings on a text and its twin."""
    return [*alone("zh", zh), *alone("en", en), *refused_terms(zh, en), *compared(zh, en)]
