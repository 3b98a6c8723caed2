"""Searching a project's items, and saved filters."""
