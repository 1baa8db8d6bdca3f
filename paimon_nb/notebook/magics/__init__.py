"""Magics: they parse a line and call the workbench."""
