"""What the theme puts on a page: only the scripts and styles it needs, its words in both languages.

Markup of the theme that nobody sees is left out by the templates beside this file.
"""

from __future__ import annotations

import re

from book.extension.bilingual import spans
from book.extension.slugs import SEPARATOR

UNUSED_SCRIPTS = ("mathjax", "require.min.js", "embed-amd", "doctools", "sphinx_highlight",
                  "DOCUMENTATION_OPTIONS.")  # the last: Sphinx's search and a version menu
MATHS_STYLES = ("katex",)
VIEWPORT = '<meta name="viewport" content="width=device-width, initial-scale=1" />'  # given twice

# Texts that the theme renders as plain strings from the configuration.
CAPTION = re.compile(r'(?<=<span class="caption-text">)([^<]*)(?=</span>)')
# The theme's toggle of a chapter in the sidebar is an icon alone; a screen reader needs a name.
TOGGLE = '<summary><span class="toctree-toggle" role="presentation">'
TOGGLE_NAME = ("展开或收起本章各节", "Show or hide the sections of this chapter")


def describe(asset) -> str:
    """File name and inline body of a script or stylesheet of Sphinx."""
    body = (getattr(asset, "attributes", None) or {}).get("body") or ""
    return f"{getattr(asset, 'filename', asset) or ''} {body}"


def keep_used(app, pagename, templatename, context, doctree) -> None:
    has_maths = 'class="math' in context.get("body", "")
    styles = () if has_maths else MATHS_STYLES
    for key, unused in (("script_files", UNUSED_SCRIPTS), ("css_files", styles)):
        context[key] = [asset for asset in context[key]
                        if not any(name in describe(asset) for name in unused)]
    context["metatags"] = context.get("metatags", "").replace(VIEWPORT, "")


def give_words(app, pagename, templatename, context, doctree) -> None:
    context["both"], context["named"] = both, named  # for our templates


def both(text: str) -> str:
    """`中文 · English`, already HTML, as a span of each language."""
    zh, separator, en = text.partition(SEPARATOR)
    return spans(zh, en, escape=False) if separator else text


def named(sidebar: object) -> str:
    """The table of contents in the sidebar, with captions in two languages and named toggles."""
    name = f'<span class="visually-hidden">{spans(*TOGGLE_NAME)}</span>'
    text = CAPTION.sub(lambda caption: both(caption[1]), str(sidebar))
    return text.replace(TOGGLE, TOGGLE.replace("<summary>", f"<summary>{name}"))


def no_search(app) -> None:
    app.builder.search = False  # Sphinx's index: seconds to make, and it finds no Chinese


def setup(app):
    app.connect("builder-inited", no_search)
    app.connect("html-page-context", give_words, priority=100)  # the theme renders some at 500
    app.connect("html-page-context", keep_used, priority=900)
