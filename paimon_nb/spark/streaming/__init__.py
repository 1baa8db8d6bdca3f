"""Paimon tables as sources and sinks of Structured Streaming."""
