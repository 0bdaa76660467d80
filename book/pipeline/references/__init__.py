"""Where in PyTorch a name is defined: in the installed files, or in recorded lines of a tag."""


class SourceError(Exception):
    """A reference that leads nowhere: what is gone and where to look, in one line."""
