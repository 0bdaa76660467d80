"""What tests and benchmarks share: random programs and a corpus, what agrees with torch, what a run
leaves behind, and, in `web`, what opens a built page and judges it. Knows neither of the two.
"""
