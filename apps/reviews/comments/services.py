"""Write, resolve and see comments on items; ``@name`` mentions a member."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from apps.accounts.models import User
from apps.labels.selectors import no_item
from apps.projects.models import Item, Membership, Project
from apps.reviews.comments.selectors import get_comment, readable_comments
from apps.reviews.models import Comment, Mention
from labelhub.core.errors import InvalidInput
from labelhub.core.schema import unstorable

#: A user name of Django after an ``@`` that belongs to no e-mail address.
_CALLED = re.compile(r"(?<![\w.@+-])@([\w.@+-]{1,150})")
#: Characters of names that may also end a sentence.
_PUNCTUATION = ".@+-"
#: Mentions that one comment may have.
MOST = 50
LONGEST = 10_000


def find_mentions(text: str) -> dict[str, list[str]]:
    """The text after each ``@``, with the names that it may be, the longest first.

    >>> find_mentions("Ask @ana.")
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
    """For the text after each ``@``, the longest of its names that is ``known``."""
    longest = {
        words: next((name for name in names if name in known), None)
        for words, names in candidates.items()
    }
    return {words: name for words, name in longest.items() if name is not None}


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
    """``words`` without blanks around them.

    Raises:
        InvalidInput: they hold characters that no database stores.
    """
    if bad := unstorable(words):
        raise InvalidInput.at(name, "must not contain %(bad)s.", bad=bad)
    return words.strip()


@dataclass(frozen=True, slots=True)
class Written:
    """A stored comment; ``strangers`` are mentioned names that no member has."""

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
    """Write a comment on an item; ``@name`` mentions a member.

    ``explains``: an adjudicator tells it those who labelled the item. ``to``: ids of users, members
    or not, whom it is meant for besides those that it names.

    Raises:
        NotFound: the project has no such item.
        InvalidInput: no text, too much of it, or something that no database takes.
    """
    if not Item.objects.filter(project=project, pk=item_id).exists():
        raise no_item(project, item_id)
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
    """Store a remark that came with an answer or a skip as a comment; None without words.

    The same remark by the same person on the same item is stored once, because answers are sent
    again after a lost connection.

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
    """Resolve a comment, or open it again. Idempotent.

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
    """Mark mentions of ``user`` as seen in comments that they may read; returns how many."""
    comments = readable_comments(project, user)
    if item_id is not None:
        comments = comments.filter(item=item_id)
    unread = Mention.objects.filter(user=user, seen_at__isnull=True)
    return unread.filter(comment__in=comments.order_by().values("pk")).update(
        seen_at=timezone.now()
    )


def validate_text(field: str, words: str, longest: int = LONGEST) -> str:
    """As :func:`validate_words`, and no more characters than ``longest``."""
    words = validate_words(field, words)
    if len(words) > longest:
        raise InvalidInput.at(
            field,
            "%(words)s characters are too many; %(longest)s is the most.",
            words=len(words),
            longest=longest,
        )
    return words
