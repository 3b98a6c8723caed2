"""Comments on items: written, meant for somebody, seen, resolved."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from apps.accounts.models import User
from apps.projects.models import Item, Membership, Project
from apps.reviews.mentions import called, meant
from apps.reviews.models import Comment, Mention
from apps.reviews.selectors.comments import get_comment, readable_comments
from apps.reviews.services.answers import checked_words
from labelhub.core.errors import InvalidInput, NotFound

LONGEST = 10_000


@dataclass(frozen=True, slots=True)
class Written:
    """A comment that was stored; ``strangers`` are names it calls that nobody here has."""

    comment: Comment
    strangers: tuple[str, ...] = ()


@transaction.atomic
def write_comment(
    *,
    project: Project,
    user: User,
    item_id: int,
    text: str,
    explains: bool = False,
    to: Iterable[int] = (),
) -> Written:
    """Say something about an item, to everybody, or to those it calls by ``@name``.

    Args:
        project: whose item it is; ``user`` may review there.
        user: who says it.
        item_id: what it is about.
        text: up to 10,000 characters, stored as they are.
        explains: whether an adjudicator tells it those who labelled the item.
        to: ids of users it is meant for besides those it names; members or not.

    Raises:
        NotFound: the project has no such item.
        InvalidInput: no text, too much of it, or something that no database takes.
    """
    if not Item.objects.filter(project=project, pk=item_id).exists():
        raise NotFound(f"There is no item {item_id} in the project '{project.slug}'.")
    words = checked_text("text", text)
    if not words:
        raise InvalidInput.at("text", "write something first.")
    comment = Comment.objects.create(
        project=project, item_id=item_id, author=user, text=words, explains=explains
    )
    said = called(words)
    members = _members_called(project, said)
    people = {*members.values(), *to} - {user.pk}
    Mention.objects.bulk_create([Mention(comment=comment, user_id=each) for each in sorted(people)])
    known = meant(said, members)
    return Written(comment, tuple(name for name in said if name not in known))


def remark(*, project: Project, user: User, item_id: int, text: str) -> Comment | None:
    """What somebody remarked while they answered or skipped an item, as a comment on it.

    None where there are no words. The same words by the same person on the same item are stored
    once: answers are sent again when a connection was lost.

    Raises:
        NotFound, InvalidInput: as :func:`write_comment`.
    """
    words = checked_text("comment", text)
    if not words:
        return None
    said = Comment.objects.filter(project=project, item=item_id, author=user, text=words).first()
    if said is not None:
        return said
    return write_comment(project=project, user=user, item_id=item_id, text=words).comment


def resolve_comment(
    *, project: Project, user: User, comment_id: int, resolved: bool = True
) -> Comment:
    """Mark a comment as settled, or open it again. Doing it twice changes nothing.

    Raises:
        NotFound: no such comment in the project, or ``user`` may not read it yet.
    """
    comment = get_comment(project, user, comment_id)
    if (comment.resolved_at is not None) != resolved:
        comment.resolved_at = timezone.now() if resolved else None
        comment.resolved_by = user if resolved else None
        comment.save(update_fields=["resolved_at", "resolved_by"])
    return comment


def see_mentions(*, project: Project, user: User, item_id: int | None = None) -> int:
    """Take what is meant for ``user`` as read, where they may read it; returns how much it was."""
    comments = readable_comments(project, user)
    if item_id is not None:
        comments = comments.filter(item=item_id)
    unread = Mention.objects.filter(user=user, seen_at__isnull=True)
    return unread.filter(comment__in=comments.order_by().values("pk")).update(
        seen_at=timezone.now()
    )


def checked_text(field: str, words: str) -> str:
    """``words`` without blanks around them.

    Raises:
        InvalidInput: too many, or something that no database takes.
    """
    words = checked_words(field, words)
    if len(words) > LONGEST:
        raise InvalidInput.at(
            field, f"{len(words):,} characters are too many; {LONGEST:,} is the most."
        )
    return words


def _members_called(project: Project, said: dict[str, list[str]]) -> dict[str, int]:
    names = {name for each in said.values() for name in each}
    if not names:
        return {}
    found = Membership.objects.filter(project=project, user__username__in=names)
    return dict(found.values_list("user__username", "user"))
