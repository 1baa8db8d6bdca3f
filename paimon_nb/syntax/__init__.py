"""Level 1: the text of SQL, both dialects: its tokens, its tree with spans. Knows no tables and no statements' meaning."""
