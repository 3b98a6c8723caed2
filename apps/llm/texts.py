"""Texts as they may be sent and stored."""


def clean(text: str) -> str:
    """``text`` without NUL and lone surrogates, which neither UTF-8 nor PostgreSQL can hold."""
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")
