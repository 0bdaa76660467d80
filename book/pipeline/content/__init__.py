"""What the book says of itself: chapters, their questions, terms, old addresses, publication."""
