"""Texts in two languages: rules for prose, YAML that knows its lines."""
