"""What torch does, read from running torch; nothing here draws."""
