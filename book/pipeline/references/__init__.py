"""References into torch's source: on which line a name is defined."""
