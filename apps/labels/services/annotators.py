"""Find or create annotators, one row per (project, kind, name)."""

from django.db.models import QuerySet

from apps.accounts.models import User
from apps.common.prepared import prepared
from apps.labels.models import Annotator, Kind
from apps.projects.models import Project
from apps.projects.selectors import reviewer_kind
from labelhub.core.errors import InvalidInput


def annotator_for(project: Project, *, kind: str, name: str, offline: bool = False) -> Annotator:
    """The annotator of that kind and name in ``project``.

    Raises:
        InvalidInput: an unknown kind or an empty name.
    """
    if kind not in Kind.values:
        raise InvalidInput(
            "annotator kind: '%(kind)s' is not one of %(values)s.",
            kind=kind,
            values=", ".join(Kind.values),
        )
    if not name.strip():
        raise InvalidInput("annotator: the name is empty.")
    known = _annotators_named.first(project.pk, kind, name.strip()[:200])
    if known is not None:
        return known
    found, _ = Annotator.objects.get_or_create(
        project=project, kind=kind, name=name.strip()[:200], defaults={"offline": offline}
    )
    return found


@prepared
def _annotators_named(project: int, kind: str, name: str) -> QuerySet[Annotator]:
    return Annotator.objects.filter(project=project, kind=kind, name=name)


def annotator_for_user(project: Project, user: User) -> Annotator:
    """The annotator of ``user`` in ``project``; the kind comes from the membership.

    An imported annotator of their name without a user becomes theirs. One that belongs or belonged
    to somebody else (user names change hands) is left alone.
    """
    kind = reviewer_kind(user, project)
    own = _annotators_of_user.first(project.pk, kind, user.pk)
    if own is not None:
        return own
    named = _claim_annotator(project, kind, user.username, user)
    if named.user_id == user.pk:
        return named
    return _claim_annotator(project, kind, f"{user.username} ({user.pk})", user)


def _claim_annotator(project: Project, kind: str, name: str, user: User) -> Annotator:
    """The annotator of that name; it becomes the user's, unless it is or was somebody else's.

    The update is conditional, so that only one of two concurrent users gets it.
    """
    theirs = {"user": user, "claimed": True}
    found, made = Annotator.objects.get_or_create(
        project=project, kind=kind, name=name, defaults=theirs
    )
    if made or Annotator.objects.filter(pk=found.pk, claimed=False).update(**theirs):
        found.user, found.claimed = user, True
    return found


@prepared
def _annotators_of_user(project: int, kind: str, user: int) -> QuerySet[Annotator]:
    return Annotator.objects.filter(project=project, kind=kind, user=user).order_by("pk")[:1]
