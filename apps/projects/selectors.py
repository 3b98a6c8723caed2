"""Look up projects and memberships."""

from itertools import chain, count

from django.contrib.auth.models import AnonymousUser
from django.db.models import OuterRef, Prefetch, QuerySet, Subquery
from django.utils.text import slugify

from apps.accounts.models import User
from apps.accounts.roles import ROLES_WITH, ReviewerKind, Right, Role
from apps.common.prepared import prepared
from apps.projects.models import Guideline, LabelSchema, Membership, Project
from labelhub.core.errors import Forbidden, NotFound

#: Metadata keys that group items, widest group first, and what their values are called.
CLUSTER_KEYS = {
    "user_id": "users", "user": "users", "author_id": "authors", "author": "authors",
    "conversation_id": "conversations", "conversation": "conversations",
    "dialogue_id": "dialogues", "document_id": "documents", "document": "documents",
    "doc_id": "documents", "paper_id": "papers", "thread_id": "threads",
}  # fmt: skip


def get_project(user: User | AnonymousUser, slug: str, right: Right) -> Project:
    """The project ``slug``, if ``user`` holds ``right`` there. One query.

    Raises:
        NotFound: there is no such project, the user is no member of it, or their API key is bound
            to another one.
        Forbidden: the user is a member without that right.
    """
    if not user.is_authenticated:
        raise _no_project(slug)
    if user.is_superuser:
        project = find_project(slug)
        if user.bound_to not in (None, project.pk):
            raise _no_project(slug)
        return project
    member = _member_of.first(user.pk, slug)
    if member is None or user.bound_to not in (None, member.project_id):
        raise _no_project(slug)
    if member.role not in ROLES_WITH[right]:
        wanted = " or ".join(role.label.lower() for role in ROLES_WITH[right])
        raise Forbidden(
            "This needs the role %(wanted)s in the project %(project)s.",
            wanted=wanted,
            project=member.project,
        )
    member.project.known_member = member
    return member.project


def find_project(slug: str) -> Project:
    """The project ``slug`` without any check of rights, for operators and commands.

    Raises:
        NotFound: there is none.
    """
    project = _project_named.first(slug)
    if project is None:
        raise NotFound("There is no project '%(slug)s'.", slug=slug)
    return project


def free_slug(name: str) -> str:
    """A short name from ``name`` that no project has; empty without Latin letters or digits."""
    plain = slugify(name)[:56].strip("-_")
    taken = set(Project.objects.filter(slug__startswith=plain).values_list("slug", flat=True))
    tries = chain([plain], (f"{plain}-{number}" for number in count(2)))
    return next(slug for slug in tries if slug not in taken)


def role_in(user: User | AnonymousUser, project: Project) -> Role | None:
    """The role of ``user``; None for a non-member. Superusers are managers everywhere."""
    if not user.is_authenticated:
        return None
    if user.is_superuser:
        return Role.MANAGER
    member = _membership(user, project)
    return Role(member.role) if member else None


def reviewer_kind(user: User, project: Project) -> ReviewerKind:
    """The annotator kind of ``user`` in ``project``."""
    member = _membership(user, project)
    if member is not None:
        return ReviewerKind(member.kind)
    return ReviewerKind.EXPERT if user.is_superuser else ReviewerKind.CROWD


def current_schema(project: Project) -> LabelSchema:
    """The newest version of the label schema.

    Raises:
        NotFound: the project has none (it was not made by ``create_project``).
    """
    newest = _newest_schema.first(project.pk)
    if newest is None:
        raise NotFound("The project %(project)s has no label schema.", project=project)
    newest.project = project
    return newest


def current_guideline(project: Project) -> Guideline | None:
    return project.guidelines.order_by("-version").first()


def project_prefetches(user: User) -> "list[Prefetch[str]]":
    """Prefetches that reduce ``schemas`` and ``guidelines`` to the newest row and ``memberships``
    to that of ``user``."""
    schemas = LabelSchema.objects.filter(project=OuterRef("project")).order_by("-version")
    texts = Guideline.objects.filter(project=OuterRef("project")).order_by("-version")
    return [
        Prefetch("schemas", LabelSchema.objects.filter(pk=Subquery(schemas.values("pk")[:1]))),
        Prefetch("guidelines", Guideline.objects.filter(pk=Subquery(texts.values("pk")[:1]))),
        Prefetch("memberships", Membership.objects.filter(user=user)),
    ]


def members(project: Project) -> list[Membership]:
    """Everyone in the project with their accounts, by role, then user name. One query."""
    rows = project.memberships.select_related("user").order_by("user__username")
    return sorted(rows, key=lambda member: Role.values.index(member.role))


def get_member(project: Project, user_id: int) -> Membership:
    """The membership of that person, with their account.

    Raises:
        NotFound: they are no member of the project.
    """
    member = project.memberships.select_related("user").filter(user=user_id).first()
    if member is None:
        raise NotFound("There is no such person in this project.")
    return member


def is_last_manager(member: Membership) -> bool:
    others = Membership.objects.filter(project=member.project_id, role=Role.MANAGER)
    return member.role == Role.MANAGER and not others.exclude(pk=member.pk).exists()


def _membership(user: User, project: Project) -> Membership | None:
    known = project.known_member
    if known is not None and known.user_id == user.pk:
        return known
    return _member_in.first(user.pk, project.pk)


def _no_project(slug: str) -> NotFound:
    return NotFound("There is no project '%(slug)s', or you are not a member of it.", slug=slug)


@prepared
def _project_named(slug: str) -> QuerySet[Project]:
    return Project.objects.filter(slug=slug, loading=False)


@prepared
def _member_of(user: int, slug: str) -> QuerySet[Membership]:
    return Membership.objects.select_related("project").filter(user=user, project__slug=slug)


@prepared
def _member_in(user: int, project: int) -> QuerySet[Membership]:
    return Membership.objects.filter(user=user, project=project)


@prepared
def _newest_schema(project: int) -> QuerySet[LabelSchema]:
    return LabelSchema.objects.filter(project=project).order_by("-version")[:1]
