"""Figures from stored decisions and offer events (paper 004, section 4)."""
