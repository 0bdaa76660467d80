"""Widgets: the notebook side of the custom elements in book/web."""
