"""Level 7: what a person sees in Jupyter: magics, pictures, tables, progress, completion."""
