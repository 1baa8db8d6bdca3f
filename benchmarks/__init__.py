"""Side-by-side measurements against peers on the same rows: `python -m benchmarks`. See README.md here."""
