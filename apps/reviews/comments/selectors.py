"""Comments on items, and which of them a user may read.

Comments give opinions away. Before their answer, reviewers read only explanations to them, and
comments on items that wait for nobody, unless the project shows opinions; on audits and gold
questions they always answer first.
"""

from dataclasses import dataclass

from django.db.models import (
    BooleanField,
    Case,
    Count,
    Exists,
    OuterRef,
    Prefetch,
    Q,
    QuerySet,
    When,
)
from django.utils.translation import pgettext_lazy

from apps.accounts.models import User
from apps.accounts.roles import ReviewerKind, Role
from apps.common.prepared import prepared
from apps.labels.blindness import ONLY_AUDITED, answer_hidden_from, unanswered_by
from apps.labels.models import ItemState
from apps.projects.models import Membership, Project
from apps.projects.selectors import reviewer_kind, role_in
from apps.reviews.models import Comment, Mention
from labelhub.core.errors import NotFound

#: Beyond this the navigation only says that there are many.
MANY = 99
#: Names offered while somebody types one.
OFFERED = 8
SHOWN = {
    "open": pgettext_lazy("comments", "Open"),
    "mine": pgettext_lazy("comments", "Mine"),
    "mentions": pgettext_lazy("comments", "For me"),
    "resolved": pgettext_lazy("comments", "Resolved"),
}


@dataclass(frozen=True, slots=True)
class Thread:
    """The comments on one item: those that may be read, oldest first, and how many others wait."""

    item_id: int
    comments: list[Comment]
    hidden: int

    @property
    def open(self) -> int:
        return sum(comment.resolved_at is None for comment in self.comments)

    @property
    def explanations(self) -> list[Comment]:
        return [
            comment for comment in self.comments if comment.explains and comment.resolved_at is None
        ]


def thread_on(project: Project, user: User, item_id: int) -> Thread:
    """The comments on one item that ``user`` may read. Two queries, or three."""
    rows = list(_comments_for(project, user).filter(item=item_id).order_by("pk"))
    readable = [comment for comment in rows if _is_readable(comment)]
    return Thread(item_id, readable, len(rows) - len(readable))


def comment_rows(project: Project, user: User, *, shown: str = "open") -> QuerySet[Comment]:
    """The project's comments, the newest first; ``readable`` marks those that ``user`` may read.
    ``shown``: see :func:`narrow_comments`."""
    rows = _comments_for(project, user).select_related("item__state__gold").order_by("-pk")
    return narrow_comments(rows, user, shown)


def narrow_comments(rows: QuerySet[Comment], user: User, shown: str) -> QuerySet[Comment]:
    """Those of ``rows`` that one of :data:`SHOWN` names; of anything else all."""
    if shown == "mine":
        return rows.filter(author=user)
    if shown == "mentions":
        return rows.filter(_mentions_user(user))
    if shown in ("open", "resolved"):
        return rows.filter(resolved_at__isnull=shown == "open")
    return rows


def get_comment(project: Project, user: User, comment_id: int) -> Comment:
    """One comment that ``user`` may read.

    Raises:
        NotFound: the project has none of that number, or they may not read it yet.
    """
    comment = _comments_for(project, user).filter(pk=comment_id).first()
    if comment is None or not _is_readable(comment):
        raise NotFound(
            "There is no comment %(comment_id)s that you may read.", comment_id=str(comment_id)
        )
    return comment


def readable_comments(project: Project, user: User) -> QuerySet[Comment]:
    return Comment.objects.filter(_readable(project, user), project=project)


def unread_mentions(project_id: int, user_id: int) -> int:
    """How many comments are meant for ``user`` and unread; no more than one above :data:`MANY`.
    One query."""
    return len(_unread_mentions(user_id, project_id))


def unread_by_project(user: User) -> dict[int, int]:
    """By project, how many comments are meant for ``user`` and unread. One query."""
    unread = Mention.objects.filter(user=user, seen_at__isnull=True).order_by()
    counts = unread.values("comment__project").annotate(n=Count("pk"))
    return dict(counts.values_list("comment__project", "n"))


def complete_names(project: Project, start: str) -> list[str]:
    """The first names of members that begin with ``start``, whatever the case."""
    names = Membership.objects.filter(project=project, user__username__istartswith=start)
    return list(names.order_by("user__username").values_list("user__username", flat=True)[:OFFERED])


def _comments_for(project: Project, user: User) -> QuerySet[Comment]:
    """Comments with author and mentioned people; ``readable`` and ``unread`` say what they are to
    ``user``."""
    unread = Mention.objects.filter(comment=OuterRef("pk"), user=user.pk, seen_at__isnull=True)
    people = Prefetch("mentions", Mention.objects.select_related("user"))
    # True or False, also where a part of the condition is neither.
    return (
        Comment.objects.filter(project=project)
        .annotate(
            readable=Case(
                When(_readable(project, user), then=True),
                default=False,
                output_field=BooleanField(),
            ),
            unread=Exists(unread),
        )
        .select_related("author", "resolved_by")
        .prefetch_related(people)
    )


def _readable(project: Project, user: User) -> Q:
    if role_in(user, project) != Role.REVIEWER:
        return Q(pk__isnull=False)  # they read the whole ledger as well
    shown = Q(
        item__project__review_settings__show_opinions=True, item__state__is_gold_question=False
    )
    shown &= ~Q(item__state__reasons=ONLY_AUDITED)
    readable = Q(author=user) | (Q(explains=True) & _mentions_user(user)) | shown
    readable |= ~unanswered_by(user.pk, item="item_id")
    # Comments on items that wait for nobody, and by which user cannot be checked.
    readable |= Q(item__state__queued=False) & ~answer_hidden_from(user.pk, item="item_id")
    if reviewer_kind(user, project) == ReviewerKind.EXPERT:
        # Comments on what waits for an expert, who is to see whatever was said.
        waits = Q(item__state__stage=ItemState.Stage.CONFLICT) | Q(item__state__disputed=True)
        readable |= waits & Q(item__state__queued=True)
    return readable


def _mentions_user(user: User) -> Q:
    return Q(Exists(Mention.objects.filter(comment=OuterRef("pk"), user=user.pk)))


def _is_readable(comment: Comment) -> bool:
    return bool(getattr(comment, "readable", False))


@prepared
def _unread_mentions(user: int, project: int) -> QuerySet[Mention, tuple[int]]:
    unread = Mention.objects.filter(user=user, seen_at__isnull=True, comment__project=project)
    return unread.order_by().values_list("pk")[: MANY + 1]
