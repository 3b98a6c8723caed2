"""Comments on items: written, meant for somebody by ``@name``, seen, resolved."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from apps.accounts.models import User
from apps.projects.models import Item, Membership, Project
from apps.reviews.comments.selectors import get_comment, readable_comments
from apps.reviews.models import Comment, Mention
from labelhub.core.errors import InvalidInput, NotFound
from labelhub.core.schema import unstorable

#: What Django takes for a user name, behind a sign that belongs to no address.
_CALLED = re.compile(r"(?<![\w.@+-])@([\w.@+-]{1,150})")
#: Of what a name may hold, what also ends a sentence.
_PUNCTUATION = ".@+-"
#: More people than this nobody calls by name at once.
MOST = 50
LONGEST = 10_000


def find_mentions(text: str) -> dict[str, list[str]]:
    """What stands behind each ``@``, with the names it may be, the longest first.

    >>> called("Ask @ana.")
    {'ana.': ['ana.', 'ana']}
    """
    found: dict[str, list[str]] = {}
    for called_name in list(dict.fromkeys(match[1] for match in _CALLED.finditer(text)))[:MOST]:
        names = found[called_name] = [called_name]
        while names[-1][-1] in _PUNCTUATION and len(names[-1]) > 1:
            names.append(names[-1][:-1])
    return found


def match_mentions(
    candidates: Mapping[str, Iterable[str]], known: Collection[str]
) -> dict[str, str]:
    """For what was said behind an ``@``, the longest of its names that is ``known``."""
    found = {}
    for words, names in candidates.items():
        name = next((name for name in names if name in known), None)
        if name is not None:
            found[words] = name
    return found


def mark_mentions(text: str, known: Collection[str]) -> SafeString:
    """``text`` as escaped HTML in which every ``@name`` that is ``known`` stands out."""
    names = match_mentions(find_mentions(text), known)
    parts, position = [], 0
    for match in _CALLED.finditer(text):
        name = names.get(match[1])
        if name is None:
            continue
        end = match.start(1) + len(name)
        parts += [escape(text[position : match.start()]), f'<b class="mention">@{escape(name)}</b>']
        position = end
    return mark_safe("".join([*parts, escape(text[position:])]))  # noqa: S308 - every part is escaped


def validate_words(name: str, words: str) -> str:
    """Words without what no database stores.

    Raises:
        InvalidInput: they hold some.
    """
    if bad := unstorable(words):
        raise InvalidInput.at(name, f"must not contain {bad}.")
    return words.strip()


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
    words = validate_text("text", text)
    if not words:
        raise InvalidInput.at("text", "write something first.")
    comment = Comment.objects.create(
        project=project, item_id=item_id, author=user, text=words, explains=explains
    )
    mentioned = find_mentions(words)
    names = {name for possible in mentioned.values() for name in possible}
    found = Membership.objects.filter(project=project, user__username__in=names)
    members = dict(found.values_list("user__username", "user")) if names else {}
    people = {*members.values(), *to} - {user.pk}
    Mention.objects.bulk_create(
        [Mention(comment=comment, user_id=person) for person in sorted(people)]
    )
    known = match_mentions(mentioned, members)
    return Written(comment, tuple(name for name in mentioned if name not in known))


def add_remark(*, project: Project, user: User, item_id: int, text: str) -> Comment | None:
    """What somebody remarked while they answered or skipped an item, as a comment on it.

    None where there are no words. The same words by the same person on the same item are stored
    once: answers are sent again when a connection was lost.

    Raises:
        NotFound, InvalidInput: as :func:`write_comment`.
    """
    words = validate_text("comment", text)
    if not words:
        return None
    earlier = Comment.objects.filter(project=project, item=item_id, author=user, text=words).first()
    if earlier is not None:
        return earlier
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


def validate_text(field: str, words: str) -> str:
    """``words`` without blanks around them.

    Raises:
        InvalidInput: too many, or something that no database takes.
    """
    words = validate_words(field, words)
    if len(words) > LONGEST:
        raise InvalidInput.at(
            field, f"{len(words):,} characters are too many; {LONGEST:,} is the most."
        )
    return words
