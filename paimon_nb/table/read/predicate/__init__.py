"""Predicates: parsing, binding to a schema, and evaluation on rows and on file statistics."""
