"""One page of the book without the others: its text as it is now, and Sphinx kept warm for it."""
