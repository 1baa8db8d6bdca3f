"""The rows behind the result grid: pages of text, sorting, filters, column profiles. Arrow only, no widgets."""
