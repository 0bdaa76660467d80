"""Words in both languages beside something that stands on one line."""

from inside.pictures.svg import text


def beside(x, y, zh, en, size=12, leading=15, **attributes):
    """Both languages beside something whose baseline is at `y`: one above, one below.

    Where the page shows one of them, its style sheet moves that one onto `y`.
    """
    half = leading / 2
    return "\n".join(
        [
            text(x, y - half, zh, size, lang="zh-Hans", style=f"--alone:{half:g}px",
                 **{"class": "lang-zh"}, **attributes),
            text(x, y + half, en, size, lang="en", style=f"--alone:{-half:g}px",
                 **{"class": "lang-en"}, **attributes),
        ]
    )
