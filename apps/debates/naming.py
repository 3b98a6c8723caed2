"""What protocols and roles are called, for people."""

from labelhub.core.debate import PROTOCOLS


def protocol_title(name: str) -> str:
    """``self_consistency`` as people read it; the name of one that this version does not know."""
    info = PROTOCOLS.get(name)
    return info.title if info else name


def role_words(role: str) -> str:
    """``annotator_b`` as people read it: Annotator B."""
    first, *words = role.split("_")
    last = [words.pop().upper()] if words and len(words[-1]) == 1 else []
    return " ".join([first.capitalize(), *words, *last])
