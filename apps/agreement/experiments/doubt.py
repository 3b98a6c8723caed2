"""How sure a share is among items of which none differs from the others."""

from labelhub.core.agreement.figures import Figure, share


def with_ends(shown: Figure) -> Figure:
    """A share in which nothing varied, with Wilson's interval for as many items.

    The bootstrap cannot say how sure it is: every draw is alike.
    """
    value = shown["value"]
    if value not in {0.0, 1.0} or shown["low"] is not None:
        return shown
    n = shown["n"]
    return share(n if value else 0, n, reason="")
