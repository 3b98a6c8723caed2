"""Experts decide what others disagree on."""
