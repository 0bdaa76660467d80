"""A failing program made small: statements are left out while it still fails."""

import ast


def bodies(tree):
    """All lists of statements of a program."""
    for node in ast.walk(tree):
        for field in ("body", "orelse", "finalbody"):
            if isinstance(found := getattr(node, field, None), list):
                yield found


def counts_down(statement):
    """`n -= 1`, without which a while would not end."""
    return isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Sub)


def smaller(text):
    """The programs with one statement less, or with a block in place of its statement."""
    count = sum(map(len, bodies(ast.parse(text))))
    for number in range(count):
        for keep in (False, True):
            tree, left = ast.parse(text), number
            for body in list(bodies(tree.body[0])):
                if left < len(body) and counts_down(body[left]):
                    break
                if left < len(body):
                    inside = getattr(body[left], "body", []) if keep else []
                    body[left:left + 1] = inside if isinstance(inside, list) else []
                    if not body:
                        body.append(ast.Pass())
                    yield ast.unparse(ast.fix_missing_locations(tree)) + "\n"
                    break
                left -= len(body)


def smallest(text, fails):
    """The program without the statements that it can fail without."""
    while True:
        for shorter in smaller(text):
            try:
                if len(shorter) < len(text) and fails(shorter):
                    break
            except SyntaxError:
                continue
        else:
            return text
        text = shorter
