"""How large the activations of a deep network are, layer by layer, or their gradients."""

from inside.pictures.plot import draw_curves

SHOWN = {
    "activations": ("激活的均方根", "root mean square of the activations"),
    "gradients": ("梯度的均方根", "root mean square of the gradients"),
}


def draw_layer_sizes(sizes, of):
    """Picture of {name: sizes of layer 0 (the input), 1, …} on a logarithmic axis.

    `of` says what was measured: "activations" or "gradients" (with respect to each layer's
    output). Raises `ValueError` for anything else.
    """
    if of not in SHOWN:
        raise ValueError(f"of is {of!r}: one of {', '.join(SHOWN)}")
    return draw_curves(sizes, ("第几层", "layer"), SHOWN[of], start=0, log=True)
