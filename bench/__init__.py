"""Figures: each a count, or a ratio to a floor measured in the same run. `python -m bench [NAME …] [--json]`.

One benchmark a file, each with `measure(*, tiny)`, which returns figures and leaves nothing behind. Nothing here is a
test: a figure that misses its aim is reported, never an error. What each means, and the last figures, are in
`docs/bench.md`.
"""
