"""What mini_module leaves out of nn.Module is named on its page, in either language."""

from torch import nn

import mini_module
from book.pipeline.ground.paths import CHAPTERS

PAGE = (CHAPTERS / "03-modules/mini-module.md").read_text(encoding="utf-8")
DIFFERS = PAGE.split("· What differs", 1)[1].split("{code-cell}", 1)[0].split('"lang": "en"')


def test_a_public_name_of_module_is_here_or_the_page_says_that_it_is_not():
    missing = [name for name in dir(nn.Module)
               if not name.startswith("_") and not hasattr(mini_module.Module, name)]
    assert "compile" in missing
    assert len(DIFFERS) == 2
    for half in DIFFERS:
        assert [name for name in missing if f"`{name}`" not in half] == []
