"""Tools that turn chapters and cards into a site: the commands stand here, their parts in rooms."""

import sys

# jsonschema, and with it nbformat, imports this package where it finds it, to check addresses in a
# format that no schema of ours or of a notebook uses. It compiles 39 grammars: 1.2 s a process.
sys.modules.setdefault("rfc3987_syntax", None)
