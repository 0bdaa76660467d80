"""Tables that the build fills, in both languages; wide ones scroll inside themselves."""

from __future__ import annotations

from markupsafe import escape

from book.extension.bilingual import spans

NONE = ("没有", "None")


def text(value: object) -> str:
    """A cell: a pair (zh, en) in both languages, `Markup` as it is, anything else escaped."""
    return spans(*value) if isinstance(value, tuple) else str(escape(value))


def table(head: list[object], rows: list[list[object]]) -> str:
    """HTML of a table, or of the word None if it has no row."""
    if not rows:
        return f"<p>{spans(*NONE)}</p>"
    cells = "".join(f'<th scope="col">{text(cell)}</th>' for cell in head)
    body = "".join(f"<tr>{''.join(f'<td>{text(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return (f'<div class="wide-table" tabindex="0"><table class="table"><thead><tr>{cells}'
            f"</tr></thead><tbody>{body}</tbody></table></div>")
