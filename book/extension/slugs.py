"""Section ids come from the English half of a heading `中文 · English`."""

from __future__ import annotations

from docutils import nodes

SEPARATOR = " · "
_make_id = nodes.make_id


def slug(title: str) -> str:
    """`存储与步长 · Storage and strides` -> `storage-and-strides`."""
    return _make_id(title.rsplit(SEPARATOR, 1)[-1])


def setup(app):
    # docutils makes a section's id from its whole title and would keep the Latin words of the
    # Chinese half; it offers no hook but the function itself. MyST names its own in _config.yml.
    nodes.make_id = slug
