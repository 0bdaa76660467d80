"""Checks of the finished site that need no browser: each page is parsed once, all is told."""
