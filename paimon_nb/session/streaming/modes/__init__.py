"""The ways in which a streaming statement runs, one class each: `StreamRun` and what is derived from it."""
