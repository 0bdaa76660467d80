"""What tests of texts in both languages share."""

from book.pipeline.pages.languages import CHINESE

__all__ = ["CHINESE"]
