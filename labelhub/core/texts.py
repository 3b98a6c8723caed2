"""Texts of the core for people: English here, translated by the pages that show them."""


def gettext_noop(text: str) -> str:
    """``text`` as it is; ``make messages`` finds it by this call and adds it to the catalogues."""
    return text
