"""How far the FLOPs of a transformer exceed 6 for each weight and token as sequences grow."""

from inside.pictures.plot import draw_curves


def draw_attention_share(ratios, *, start):
    """Picture of {name: counted FLOPs over 6ND where the length is 2**start, 2**(start + 1), …}."""
    return draw_curves(ratios, ("序列长度是 2 的几次方", "power of two of the sequence length"),
                       ("数出来的 FLOPs 是 6ND 的几倍", "counted FLOPs over 6ND"), start=start)
