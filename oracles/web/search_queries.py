"""The queries of search_queries.yaml, put to the search of a built site, in Node."""

import json
import re
import statistics
from collections import defaultdict
from pathlib import Path

import yaml

from book.pipeline.finish import search
from book.pipeline.ground.paths import SITE, WEB
from oracles.web.javascript import evaluate

QUERIES = Path(__file__).with_suffix(".yaml")
HAN = re.compile(r"[㐀-鿿]")
FIRST = 5
# As the page does it; only the files come from here. One answer is asked for before the clock runs.
ASK = """await (async () => {
  const took = async (work) => {
    const from = performance.now(), value = await work();
    return { value, ms: performance.now() - from };
  };
  class Local extends m.Reader { async fetched(name) { return data.files[name]; } }
  const readers = {}, load = {};
  for (const lang of ["zh", "en"]) {
    readers[lang] = new Local(data.names, null);
    const from = performance.now();
    const finder = (one) => (data.whole ? readers[lang].whole(one) : readers[lang].finder(one));
    await finder(lang);
    load[lang] = performance.now() - from;
    await readers[lang].search(lang === "zh" ? "梯度" : "view", lang, data.whole);
    await finder(lang === "zh" ? "en" : "zh");
  }
  const answers = [];
  for (const { query, lang } of data.queries) {
    const { value, ms } = await took(() => readers[lang].search(query, lang, data.whole));
    answers.push({ ms, found: value.slice(0, 10).map(({ page, anchor }) => `${page}#${anchor}`) });
  }
  return { load, answers };
})()"""


def queries():
    """The whole file, as it is written."""
    return yaml.safe_load(QUERIES.read_text(encoding="utf-8"))


def names(site=SITE):
    """The names of the search's files of a built site, and their folder."""
    folder = site / "_static" / search.FOLDER
    return json.loads((folder / search.NAMES).read_text(encoding="utf-8")), folder


def loaded(lang, site=SITE):
    """The files of an index in the order in which they are loaded: the first, and the chapters'."""
    found, folder = names(site)
    later = [parts[part] for parts in found["chapters"].values() for part in ("both", lang)]
    return [folder / name for name in (found["first"], *later)]


def at_first(site=SITE):
    """The files that are loaded before the first answer."""
    found, folder = names(site)
    return [folder / name for name in (search.NAMES, found["box"], found["first"])]


def ask(texts, site=SITE, whole=True):
    """What the search answers to texts, `whole` or from what is loaded first: load times in ms by
    language, and found and ms of each."""
    content = {file.name: json.loads(file.read_text("utf-8"))
               for lang in ("zh", "en") for file in loaded(lang, site)}
    asked = [{"query": text, "lang": "zh" if HAN.search(text) else "en"} for text in texts]
    return evaluate(WEB / "search" / "reader.js", ASK, {
        "names": names(site)[0], "files": content, "queries": asked, "whole": whole})


def tops(site=SITE):
    """The anchor of each page's own title: its entry bears none."""
    text = re.compile(r"<article.*?<section\b[^>]*\bid=\"([^\"]+)\"", re.S)
    found = {page.relative_to(site).with_suffix("").as_posix(): text.search(page.read_text("utf-8"))
             for page in site.glob("chapters/*/*.html")}
    return {page: match[1] for page, match in found.items() if match}


def place(found, titles):
    """`01-tensors/index#tensors`, as the queries write it, of what the search gives."""
    page, _, anchor = found.partition("#")
    return f"{page.removeprefix('chapters/')}#{anchor or titles.get(page, '')}"


def answers(wanted, place):
    """Whether a place is one of those that a query should find; `PAGE#` is any of a page."""
    return any(place.startswith(one) if one.endswith("#") else place == one for one in wanted)


def judge(asked, site=SITE, whole=True):
    """For these queries: hits and number by class, the misses, median ms, load ms."""
    said, titles = ask([one["query"] for one in asked], site, whole), tops(site)
    counts, misses = defaultdict(lambda: [0, 0]), []
    for one, answer in zip(asked, said["answers"], strict=True):
        found = [place(name, titles) for name in answer["found"]]
        hit = any(answers(one["find"], name) for name in found[:FIRST])
        counts[one["class"]][0] += hit
        counts[one["class"]][1] += 1
        if not hit:
            misses.append(f"{one['query'][:60]!r} gives {', '.join(found[:FIRST]) or 'nothing'}")
    return {"classes": {name: tuple(pair) for name, pair in counts.items()}, "misses": misses,
            "median_ms": statistics.median(answer["ms"] for answer in said["answers"]),
            "load_ms": said["load"]}
