"""What is offered to authors beside questions, where a site has something that offers.

What decides and words offers stands above this app and is made known here once, when the server
starts. An offer waits in the database, as a question does: the socket only brings it.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol
from uuid import UUID

from apps.authors.models import Author


class Offers(Protocol):
    """What offers."""

    def at(self, site_id: int) -> bool:
        """Whether authors of the site may be offered something."""
        ...

    def waiting(self, author_ids: Sequence[int]) -> list[int]:
        """Those of the authors for whom an offer waits that nobody has brought to them yet."""
        ...

    def next(self, author: Author) -> Mapping[str, Any] | None:
        """The offer to bring, as the widget takes it; brought from now on."""
        ...

    def tell(self, author: Author, uid: UUID, what: str, ref: str) -> None:
        """Take what became of an offer; the same ``ref`` is the same.

        Raises:
            UnknownQuestion, NotYours: nothing is written.
        """
        ...

    def withdraw(self, author_id: int) -> None:
        """Nothing is offered at what the author has written so far, and what is on their pages goes
        off them."""
        ...

    def withdrawn(self, uids: Collection[UUID]) -> set[UUID]:
        """Those of the offers that are to go off the pages."""
        ...

    def brought(self, author: Author) -> set[UUID]:
        """The last offers that were brought to the author: a page may still have them."""
        ...


_known: list[Offers] = []


def offer_by(offers: Offers) -> None:
    """Let ``offers`` make offers to authors."""
    _known[:] = [offers]


def offers_at(site_id: int) -> bool:
    """Whether authors of the site may be offered something: they are told before they agree."""
    return bool(_known) and _known[0].at(site_id)


def authors_with_offers(author_ids: Sequence[int]) -> list[int]:
    """Those of the authors for whom an offer waits."""
    return _known[0].waiting(author_ids) if _known and author_ids else []


def next_offer(author: Author) -> Mapping[str, Any] | None:
    """The offer to bring to an author, if there is one."""
    return _known[0].next(author) if _known and author.opted_out_at is None else None


def tell_offer(author: Author, uid: UUID, what: str, ref: str) -> None:
    """Take what became of an offer; see :meth:`Offers.tell`."""
    if _known:
        _known[0].tell(author, uid, what, ref)


def withdraw_offers(author_id: int) -> None:
    """Take back what is offered, or about to be, to an author."""
    if _known:
        _known[0].withdraw(author_id)


def withdrawn_offers(uids: Collection[UUID]) -> set[UUID]:
    """Those of the offers that are to go off the pages."""
    return _known[0].withdrawn(uids) if _known and uids else set()


def brought_offers(author: Author) -> set[UUID]:
    """The last offers that were brought to the author: a page may still have them."""
    return _known[0].brought(author) if _known else set()
