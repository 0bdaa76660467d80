"""Notebooks: made from a source, what they depend on, what readers get, run without Jupyter."""
