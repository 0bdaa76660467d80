"""Section ids come from the English half of a heading."""

import pytest
import yaml
from docutils import nodes
from docutils.core import publish_doctree

from book.extension import slugs
from book.pipeline.ground.paths import ROOT


@pytest.mark.parametrize(("heading", "slug"), [
    ("存储与步长 · Storage and strides", "storage-and-strides"),
    ("view 真正检查什么 · What view really checks", "what-view-really-checks"),
    ("用 torch.compile · Use torch.compile", "use-torch-compile"),
    ("Glossary", "glossary"),
    ("甲 · A · B", "b"),
])
def test_a_slug_is_the_english_half(heading, slug):
    assert slugs.slug(heading) == slug


def test_docutils_makes_its_ids_the_same_way(monkeypatch):
    monkeypatch.setattr(nodes, "make_id", nodes.make_id)  # restored after the test
    slugs.setup(app=None)
    title = "view 检查什么 · What a view checks"
    text = f"{title}\n{'=' * 60}\n\nText.\n"
    tree = publish_doctree(text, settings_overrides={"doctitle_xform": False})
    assert tree.next_node(nodes.section)["ids"] == ["what-a-view-checks"]


def test_markdown_links_use_the_same_function():
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    name = f"{slugs.slug.__module__}.{slugs.slug.__qualname__}"
    assert config["sphinx"]["config"]["myst_heading_slug_func"] == name
