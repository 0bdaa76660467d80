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
    load[lang] = (await took(() => readers[lang].finder(lang))).ms;
    await readers[lang].search(lang === "zh" ? "梯度" : "view", lang);
    await readers[lang].finder(lang === "zh" ? "en" : "zh");
  }
  const answers = [];
  for (const { query, lang } of data.queries) {
    const { value, ms } = await took(() => readers[lang].search(query, lang));
    answers.push({ ms, found: value.slice(0, 10).map(({ page, anchor }) => `${page}#${anchor}`) });
  }
  return { load, answers };
})()"""


def queries():
    """The whole file, as it is written."""
    return yaml.safe_load(QUERIES.read_text(encoding="utf-8"))


def files(site=SITE):
    """Names of the search's files of a built site by what they are, and their folder."""
    folder = site / "_static" / search.FOLDER
    names = {lang: next(folder.glob(f"index-{lang}.*")).name for lang in ("zh", "en")}
    return folder, names


def ask(texts, site=SITE):
    """What the search answers to texts: load times in ms by language, and found and ms of each."""
    folder, names = files(site)
    content = {name: json.loads((folder / name).read_text("utf-8")) for name in names.values()}
    asked = [{"query": text, "lang": "zh" if HAN.search(text) else "en"} for text in texts]
    return evaluate(WEB / "search" / "reader.js", ASK,
                    {"names": names, "files": content, "queries": asked})


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


def judge(asked, site=SITE):
    """For these queries: hits and number by class, the misses, median ms, load ms."""
    said, titles = ask([one["query"] for one in asked], site), tops(site)
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
