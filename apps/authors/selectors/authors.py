"""Authors, what they wrote, answered and earned, as managers and a site's own servers look it up.

Lists are querysets with what a row shows already joined, so that a page takes one query.
"""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib.auth.models import AnonymousUser
from django.db.models import Count, Max, Min, Q, QuerySet, Sum
from django.utils.translation import gettext_lazy as _
from django_filters import CharFilter, ChoiceFilter

from apps.accounts.models import User
from apps.accounts.roles import Right
from apps.authors.errors import NotYours, UnknownQuestion, UnknownSite
from apps.authors.models import Answer, Author, ConsentText, Message, Payout, Question, Reward, Site
from apps.authors.querysets import counting_authors, is_due
from apps.authors.selectors.sites import find_site
from apps.common.lists import SearchFilter
from apps.projects.selectors import get_project
from labelhub.core.errors import NotFound

#: What the list of authors may be narrowed to.
GROUPS = {
    "counting": (_("Whose answers count"), counting_authors()),
    "excluded": (_("Excluded"), ~counting_authors()),
    "ruled": (_("Decided by a manager"), Q(ruling__isnull=False)),
    "verified": (_("Signed in by the host"), ~Q(subject="")),
    "left": (_("Opted out"), Q(opted_out_at__isnull=False)),
}
_PSEUDONYM = re.compile(r"(?:author-)?([0-9a-f]{8})[0-9a-f]{0,2}", re.IGNORECASE)


class AuthorFilter(SearchFilter):
    """``?q=`` a pseudonym, or a part of the host's id; ``?group=`` one of :data:`GROUPS`."""

    q = CharFilter(
        method="find",
        label=_("Whole pseudonym, or part of the host’s id"),
        max_length=200,
    )
    group = ChoiceFilter(
        choices=[(group, words) for group, (words, _which) in GROUPS.items()],
        method="narrow_to",
        label=_("Show"),
        empty_label=_("Everybody"),
    )

    def find(self, authors: QuerySet[Author], _name: str, words: str) -> QuerySet[Author]:
        """Authors of this pseudonym, or with these letters in the host's id."""
        pseudonym = _PSEUDONYM.fullmatch(words)
        if pseudonym:
            return authors.filter(Q(uid__startswith=pseudonym[1].lower()) | Q(subject=words))
        return authors.filter(subject__icontains=words)

    def narrow_to(self, authors: QuerySet[Author], _name: str, group: str) -> QuerySet[Author]:
        """Authors of one group."""
        return authors.filter(GROUPS[group][1])


def author_rows(authors: Sequence[Author]) -> list[dict[str, Any]]:
    """The authors with how much they wrote and answered, in two queries."""
    ids = [author.pk for author in authors]
    wrote = Message.objects.by_authors().filter(author__in=ids)
    messages = dict(wrote.values_list("author").annotate(n=Count("pk")).order_by())
    standing = Answer.objects.standing().filter(author__in=ids).values("author").order_by()
    counted: Any = standing.annotate(
        answers=Count("pk"),
        nofit=Count("pk", filter=Q(outcome=Answer.Outcome.NOFIT)),
        excluded=Count("pk", filter=Q(excluded_at__isnull=False)),
    )
    answers = {row.pop("author"): row for row in counted}
    nothing = {"answers": 0, "nofit": 0, "excluded": 0}
    return [
        {
            "author": author,
            "messages": messages.get(author.pk, 0),
            **answers.get(author.pk, nothing),
        }
        for author in authors
    ]


def get_author(site: Site, uid: UUID) -> Author:
    """The author of that site.

    Raises:
        NotFound: there is none.
    """
    author = Author.objects.filter(site=site, uid=uid).first()
    if author is None:
        raise NotFound("There is no such author on this site.")
    author.site = site
    return author


def rewards_owed(site: Site, now: datetime) -> list[dict[str, Any]]:
    """What is held, due, paid and void, by currency."""
    unpaid = Q(payout__isnull=True, void_at__isnull=True)
    states = {
        "held": unpaid & ~is_due(now),
        "due": unpaid & is_due(now),
        "paid": Q(payout__isnull=False),
        "void": Q(void_at__isnull=False, payout__isnull=True),
    }
    parts: dict[str, Any] = {}
    for state, which in states.items():
        parts[f"{state}_cents"] = Sum("cents", filter=which)
        parts[f"{state}_n"] = Count("pk", filter=which)
        parts[f"{state}_authors"] = Count("author", filter=which, distinct=True)
    rows = Reward.objects.filter(site=site).values("currency").annotate(**parts)
    return [
        {
            "state": state,
            "currency": row["currency"],
            "cents": row[f"{state}_cents"] or 0,
            "rewards": row[f"{state}_n"],
            "authors": row[f"{state}_authors"],
        }
        for row in rows.order_by("currency")
        for state in states
    ]


def payouts_with_currency(site: Site) -> QuerySet[Payout]:
    """The payouts of a site, newest first, each with the currency that it was made in."""
    made = Payout.objects.filter(site=site).select_related("created_by")
    return made.annotate(currency=Min("paid__currency")).order_by("-pk")


def get_payout(site: Site, payout_id: int) -> Payout:
    """The payout of that site.

    Raises:
        NotFound: there is none.
    """
    payout = Payout.objects.filter(site=site, pk=payout_id).first()
    if payout is None:
        raise NotFound("There is no such payout of this site.")
    return payout


def payout_lines(payout: Payout) -> list[dict[str, Any]]:
    """Whom the host pays how much: a line for each author and currency."""
    rows = (
        Reward.objects.filter(payout=payout)
        .values("author__subject", "author__uid", "currency")
        .annotate(cents=Sum("cents"), answers=Count("pk"))
        .order_by("author__subject", "author__uid", "currency")
    )
    return [
        row
        | {
            "subject": row["author__subject"],
            "pseudonym": Author(uid=row["author__uid"]).pseudonym,
        }
        for row in rows
    ]


def consent_history(site: Site) -> QuerySet[ConsentText]:
    """Every version of what authors agree to, newest first, with how many agreed to it."""
    return site.consent_texts.select_related("created_by").annotate(
        agreed=Count("consents__author", distinct=True), last=Max("consents__given_at")
    )


def find_site_for(user: User | AnonymousUser, public_key: str, right: Right) -> Site:
    """The site of that key, provided that ``user`` holds ``right`` in its project.

    Raises:
        UnknownSite: there is none, or the user is no member: the key is public, the project is not.
        Forbidden: the user is a member, without that right.
    """
    site = find_site(public_key)
    try:
        site.project = get_project(user, site.project.slug, right)
    except NotFound:
        raise UnknownSite("No site has this key; copy it from the site's page again.") from None
    return site


def find_author(site: Site, subject: str) -> Author:
    """The author by the host's own id for them.

    Raises:
        NotFound: nobody on this site has it.
    """
    found = Author.objects.filter(site=site, subject=subject).exclude(subject="").first()
    if found is None:
        raise NotFound("No author of this site is known by that id.")
    found.site = site
    return found


def question_of(author: Author, uid: str) -> Question:
    """A question that was put to ``author``.

    Raises:
        UnknownQuestion: there is none of that id.
        NotYours: it was put to somebody else.
    """
    related = ("message__conversation", "site")
    found = Question.objects.select_related(*related).filter(uid=question_uid(uid)).first()
    if found is None:
        raise UnknownQuestion("There is no such question.")
    if found.author_id != author.pk:
        raise NotYours("This question was for somebody else.")
    return found


def question_uid(raw: str) -> UUID:
    """A question's id as it was sent.

    Raises:
        UnknownQuestion: it is no id at all.
    """
    try:
        return UUID(raw)
    except ValueError:
        raise UnknownQuestion("There is no such question.") from None
