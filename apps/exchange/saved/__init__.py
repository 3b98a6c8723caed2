"""Exports that are written to a file in the background and kept with their manifest."""
