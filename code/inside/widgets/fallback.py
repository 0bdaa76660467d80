"""What stands in a widget's place where no JavaScript runs: a table in both languages."""

import json
from html import escape


def table(caption, head, rows):
    """A table of HTML cells, a line each row; the first cell of a row is its header."""
    top = "".join(f'<th scope="col">{words}</th>' for words in head)
    body = [f'<tr><th scope="row">{first}</th>{"".join(f"<td>{cell}</td>" for cell in rest)}</tr>'
            for first, *rest in rows]
    return "\n".join([f"<table><caption>{caption}</caption>", f"<tr>{top}</tr>", *body, "</table>"])


def attribute(data):
    """`data` as JSON that can stand between single quotes."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return escape(text, quote=False).replace("'", "&#39;")
