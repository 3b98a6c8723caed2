"""What a site's managers and its own servers look up by REST: messages, answers, authors, rewards.

Lists are querysets with what a row shows already joined, so that a page takes one query.
"""

from uuid import UUID

from django.contrib.auth.models import AnonymousUser
from django.db.models import QuerySet

from apps.accounts.models import User
from apps.accounts.roles import Right
from apps.authors.errors import NotYours, UnknownQuestion, UnknownSite
from apps.authors.models import Answer, Author, Message, Payout, Question, Reward, Site
from apps.authors.selectors.sites import find_site
from apps.projects.selectors import get_project
from labelhub.core.errors import NotFound


def site_for(user: User | AnonymousUser, public_key: str, right: Right) -> Site:
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


def messages_of(site: Site) -> QuerySet[Message]:
    """What was heard on the site, newest first."""
    heard = Message.objects.filter(site=site)
    return heard.select_related("author", "conversation").order_by("-received_at", "-pk")


def answers_of(site: Site) -> QuerySet[Answer]:
    """What was answered on the site, newest first."""
    given = Answer.objects.filter(question__site=site)
    return given.select_related("author", "question__feature").order_by("-pk")


def rewards_of(site: Site) -> QuerySet[Reward]:
    """What answers earned, oldest first."""
    return Reward.objects.filter(site=site).select_related("author").order_by("pk")


def payouts_of(site: Site) -> QuerySet[Payout]:
    """The site's payouts, newest first."""
    return Payout.objects.filter(site=site).order_by("-pk")


def author_called(site: Site, subject: str) -> Author:
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
        raise NotYours("This question was put to somebody else.")
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
