"""A part of the page's template, rendered without Sphinx."""

from jinja2 import Environment, FileSystemLoader

from book.extension.web import TEMPLATES

_templates = Environment(loader=FileSystemLoader(TEMPLATES), autoescape=False)


def rendered(name, **context):
    """The HTML of `parts/NAME.html`."""
    template = _templates.get_template(f"parts/{name}.html")
    return template.render(pathto=lambda file, _: file, **context)
