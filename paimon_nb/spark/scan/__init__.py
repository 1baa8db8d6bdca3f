"""Scans: how the splits of a Paimon table become a DataFrame."""
