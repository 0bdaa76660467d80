"""A golden notebook that has a cell of each kind, as `make sync` would write it."""

from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from book.pipeline.notebooks import notebook as nb


def printed(text):
    return [new_output("stream", text=text)]


OPTIONS = [{"match": "4", "zh": "四 `4`", "en": "Four `4`"},
           {"match": "5", "zh": "五", "en": "Five", "why": {"zh": "不是。", "en": "Not so."}}]


def cells():
    return [
        new_markdown_cell("# 题 · Title\n\n## 又 · Again"),
        new_markdown_cell("中文。", metadata={"lang": "zh"}),
        new_markdown_cell("English.", metadata={"lang": "en"}),
        new_code_cell(nb.SETUP, metadata={"tags": ["setup"]}, execution_count=1),
        new_code_cell("import inside\nprint('shown')", outputs=printed("shown\n"),
                      execution_count=2),
        new_code_cell("print(2 + 2)", outputs=printed("4\n"), execution_count=3,
                      metadata={"predict": {"options": OPTIONS},
                                "jupyter": {"outputs_hidden": True}}),
        new_code_cell("def twice(x):\n    return 2 * x  # blank\ntwice", execution_count=4,
                      metadata={"complete": True}, outputs=printed("a function\n")),
        new_code_cell("assert twice(3) == 6\nprint('twice is right')", execution_count=5,
                      outputs=printed("twice is right\n")),
        new_code_cell("for row in (1, 2):\n    total = row  # blank", metadata={"complete": True}),
        new_code_cell("assert total == 2\nprint('total is right')",
                      outputs=printed("total is right\n")),
        new_code_cell("print('end')", outputs=printed("end\n"), metadata={"alt": {"zh": "尾"}}),
    ]


def made_by_hand():
    made = cells()
    for number, cell in enumerate(made):
        cell["id"] = f"cell{number}"
    return new_notebook(cells=made, metadata={
        "book": {"golden": "0" * 64, "program": "1" * 64, "source": "2" * 64},
        "kernelspec": {"name": "python3", "display_name": "Python 3"},
        "language_info": nb.LANGUAGE})
