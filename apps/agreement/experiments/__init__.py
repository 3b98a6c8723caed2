"""Experiments: several set-ups on the same verified items, compared honestly."""
