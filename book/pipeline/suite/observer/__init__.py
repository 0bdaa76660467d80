"""On PYTHONPATH of programs whose reading is noted."""
