"""A page that names a file of the code in prose, as in `code/scalar_mlp.py`, links it."""

from __future__ import annotations

from docutils import nodes
from sphinx.transforms import SphinxTransform

from book.extension.downloads import address
from book.pipeline.ground.paths import ROOT


class LinkCode(SphinxTransform):
    """Make a link of `code/NAME.py` wherever prose names a file that exists."""

    def apply(self, **kwargs) -> None:
        for literal in list(self.document.findall(nodes.literal)):
            name = literal.astext()
            if (name.startswith("code/") and (ROOT / name).is_file()
                    and not isinstance(literal.parent, nodes.reference)):
                link = nodes.reference("", "", refuri=address(self.env.docname, name))
                literal.replace_self(link)
                link += literal
