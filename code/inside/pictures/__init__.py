"""Pictures as SVG, computed from real objects."""
