"""The written forms of an answer; the answer parser reads the same forms."""

from collections.abc import Iterable, Sequence


def one_line(words: str) -> str:
    """Words of others on one line, whatever an option holds."""
    return " ".join(words.split())


def quoted(name: str, quotes: Sequence[str]) -> str:
    """One evidence line: the label and the phrases that speak for it."""
    phrases = "; ".join(f'"{quote}"' for quote in quotes)
    return f"- {one_line(name)}: {phrases or 'no phrase of its own'}"


def settled(names: Iterable[str]) -> str:
    """The names of a final decision; an empty one is said in words."""
    return ", ".join(names) or "none"


def written(lines: Iterable[str], decided: str) -> str:
    """The whole answer; the decision stays on its own last line."""
    return "\n".join([*lines, f"Final Decision: {one_line(decided)}"])
