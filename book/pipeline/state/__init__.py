"""What is recorded of the book's state, and what of it is still current."""
