"""Scripts that measure what the book prints about itself.

Each prints a table and whether its budgets hold; with `--record` it also writes
`benchmarks/results/NAME.json`, from which the status page and the chapters are made.
Nothing else writes there.
"""
