"""Proofs of cards: run in forked processes, judged, and each assertion shown to be reached."""
