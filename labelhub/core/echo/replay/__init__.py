"""Replay of real author-labelled text: what Echo's choice of questions gains (echo.md)."""
