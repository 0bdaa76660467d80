"""The reading gate: what a program can say about how a section reads, before people read it."""
