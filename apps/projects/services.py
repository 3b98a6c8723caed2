"""Create and change projects, their schema, guideline and members."""

from collections.abc import Sequence

from django.db import transaction

from apps.accounts.models import User
from apps.accounts.roles import ROLES_WITH, ReviewerKind, Right, Role
from apps.common.audit import Action, differences, record
from apps.common.validation import check_model
from apps.projects.models import Guideline, LabelSchema, Membership, Project, SchemaChange
from apps.projects.selectors import current_guideline, current_schema, is_last_manager
from apps.projects.signals import reviewer_left
from labelhub.core.errors import Conflict, InvalidInput, NotFound
from labelhub.core.schema import Schema, fold, parse_schema
from labelhub.core.schema.definition import number

#: Share of a new project's items shown without a suggestion. Without such items, gold cannot be
#: distinguished from suggestions that people merely accepted.
BLIND_SHARE = 0.1


class SchemaInUse(Conflict):
    """The change would leave labels that the new schema does not offer."""

    code = "schema_in_use"


@transaction.atomic
def create_project(
    *,
    actor: User | None,
    slug: str,
    name: str,
    schema: Schema,
    guideline: str = "",
    overlap: int = 1,
    description: str = "",
    blind_share: float = BLIND_SHARE,
) -> Project:
    """Create a project with version 1 of its schema; ``actor`` becomes manager and expert.

    Raises:
        InvalidInput: the slug is taken or malformed, the name empty, the overlap not 1 to 20, the
            share not 0 to 1.
    """
    project = Project(
        slug=slug.strip(),
        name=name.strip(),
        description=description.strip(),
        overlap=overlap,
        blind_share=blind_share,
        created_by=actor,
    )
    if Project.objects.filter(slug=project.slug).exists():
        raise InvalidInput.at(
            "slug", "There is already a project '%(slug)s'; choose another.", slug=project.slug
        )
    check_model(project, exclude=["created_by"])
    project.save()
    record(Action.PROJECT_CREATED, project, actor=actor)
    _add_schema(project, schema, actor)
    if guideline.strip():
        set_guideline(project=project, text=guideline, actor=actor)
    if actor is not None:
        kind = ReviewerKind.EXPERT
        set_member(project=project, user=actor, role=Role.MANAGER, kind=kind, actor=actor)
    return project


@transaction.atomic
def set_schema(*, project: Project, schema: Schema, actor: User | None) -> LabelSchema:
    """Make ``schema`` the project's newest version. An equal one makes no version, and only its
    colours are stored: they change no answer, so that nothing becomes outdated.

    Raises:
        SchemaInUse: the project has items, and the change is more than new labels or descriptions:
            ``apps.reviews.schema_changes`` makes other changes.
        Conflict: another schema change is running.
    """
    lock_project(project)
    refuse_while_changing(project)
    current = current_schema(project)
    if current.parsed == schema:
        if current.parsed.colors != schema.colors:
            current.definition = schema.to_json()
            current.save(update_fields=["definition"])
            record(Action.SCHEMA_CHANGED, project, actor=actor, changes={"colors": (None, None)})
        return current
    if project.items.exists():
        _require_additive(current.parsed, schema)
    return _add_schema(project, schema, actor)


@transaction.atomic
def add_labels(*, project: Project, names: Sequence[str], actor: User | None) -> Schema:
    """The schema with these names as labels; those that it has are not added twice.

    Raises:
        InvalidInput: a name cannot be a label, or there would be too many.
        Conflict: another schema change is running.
    """
    lock_project(project)
    schema = current_schema(project).parsed
    new = {fold(name): name for name in names if not schema.task.knows(schema, name)}
    labels = [label.to_json() for label in schema.labels]
    labels += [{"name": name, "point": number(name)} for name in new.values()]
    if not schema.task.ordered:
        labels = [{**label, "point": None} for label in labels]
    wanted = parse_schema(schema.to_json() | {"labels": labels})
    return set_schema(project=project, schema=wanted, actor=actor).parsed


def refuse_while_changing(project: Project) -> None:
    """Allow one schema change at a time.

    Raises:
        Conflict: a change is running or has failed.
    """
    status = SchemaChange.Status
    unfinished = SchemaChange.objects.filter(project=project)
    change = unfinished.filter(status__in=(status.RUNNING, status.FAILED)).first()
    if change is None:
        return
    if change.status == status.FAILED:
        raise Conflict(
            "An error has stopped a change of this project's labels: open it under Labels and "
            "resume it first.",
            data={"change": change.pk},
        )
    raise Conflict(
        "The labels of this project are being changed: wait until that is done.",
        data={"change": change.pk},
    )


def hold_labels(project: Project) -> None:
    """Keep schema changes from starting until the caller's transaction ends, so that they see the
    work that it starts under the current schema.

    Raises:
        Conflict: a change is running or has failed.
    """
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    refuse_while_changing(project)


@transaction.atomic
def set_guideline(*, project: Project, text: str, actor: User | None) -> Guideline:
    """Make ``text`` the newest version of the guideline; an equal one changes nothing."""
    lock_project(project)
    text = text.replace("\r\n", "\n").strip()
    current = current_guideline(project)
    if current is not None and current.text == text:
        return current
    version = current.version + 1 if current else 1
    made = Guideline.objects.create(project=project, version=version, text=text, created_by=actor)
    record(
        Action.GUIDELINE_CHANGED, project, actor=actor, changes={"version": (version - 1, version)}
    )
    return made


@transaction.atomic
def set_member(
    *, project: Project, user: User, role: str, kind: str, actor: User | None
) -> Membership:
    """Add ``user`` to ``project`` with this role and kind, or change them. What is given so, by
    hand, no group takes away.

    Raises:
        InvalidInput: role or kind is unknown, or the last manager would lose the role.
    """
    lock_project(project)
    found = project.memberships.filter(user=user).first()
    member = found or Membership(project=project, user=user)
    before = {"role": found.role, "kind": found.kind} if found else {}
    if found and role != Role.MANAGER:
        _require_other_manager(found)
    member.role, member.kind, member.group = role, kind, ""
    check_model(member)
    member.save()
    announce_lost_rights(project, user, role)
    project.known_member = None
    if changes := differences(before, {"role": member.role, "kind": member.kind}):
        action = Action.MEMBER_CHANGED if found else Action.MEMBER_ADDED
        record(action, user, actor=actor, project=project, changes=changes)
    return member


@transaction.atomic
def remove_member(*, project: Project, user: User, actor: User | None) -> None:
    """Remove ``user`` from ``project``; their labels stay.

    Raises:
        NotFound: they are no member.
        InvalidInput: they are the last manager.
    """
    lock_project(project)
    member = project.memberships.filter(user=user).first()
    if member is None:
        raise NotFound("%(user)s is not a member of this project.", user=user)
    _require_other_manager(member)
    member.delete()
    announce_lost_rights(project, user, role=None)
    project.known_member = None
    gone = {"role": (member.role, None), "kind": (member.kind, None)}
    record(Action.MEMBER_REMOVED, user, actor=actor, project=project, changes=gone)


@transaction.atomic
def update_project(
    *, project: Project, actor: User | None, name: str | None = None, description: str | None = None
) -> None:
    """Change name or description; the slug is fixed, and the review plan has its own service.

    Raises:
        InvalidInput: the name is empty or too long.
    """
    given = {"name": name, "description": description}
    changes = {field: text.strip() for field, text in given.items() if text is not None}
    for field, text in changes.items():
        setattr(project, field, text)
    check_model(project, exclude=["created_by"])
    before = Project.objects.filter(pk=project.pk).values(*given).get()
    project.save(update_fields=list(changes))
    changed = differences(before, changes)
    if "description" in changed:  # a text: only that it changed
        changed["description"] = (None, None)
    if changed:
        record(Action.PROJECT_CHANGED, project, actor=actor, changes=changed)


@transaction.atomic
def change_project(
    *,
    project: Project,
    actor: User | None,
    schema: Schema | None = None,
    guideline: str | None = None,
    **changes: str,
) -> None:
    """Make several changes, all or none; see the single services."""
    if changes:
        update_project(project=project, actor=actor, **changes)
    if schema is not None:
        set_schema(project=project, schema=schema, actor=actor)
    if guideline is not None:
        set_guideline(project=project, text=guideline, actor=actor)


@transaction.atomic
def delete_project(*, project: Project, actor: User | None) -> None:
    """Delete the project with everything in it: items, labels, gold, runs."""
    record(Action.PROJECT_DELETED, project, actor=actor)
    project.delete()


def lock_project(project: Project) -> None:
    """One change at a time, as version numbers and managers are counted."""
    Project.objects.select_for_update().get(pk=project.pk)


def _add_schema(project: Project, schema: Schema, actor: User | None) -> LabelSchema:
    newest = project.schemas.order_by("-version").first()
    made = LabelSchema.objects.create(
        project=project,
        version=newest.version + 1 if newest else 1,
        definition=schema.to_json(),
        created_by=actor,
    )
    version = (newest.version if newest else None, made.version)
    record(Action.SCHEMA_CHANGED, project, actor=actor, changes={"version": version})
    return made


def _require_additive(old: Schema, new: Schema) -> None:
    """Of a project with items, only new labels and better descriptions.

    Labels keep their order too, as it is part of multi-label values.
    """
    if new.task is not old.task:
        raise SchemaInUse(
            "The project has items, so its task stays '%(task)s': create a new project for "
            "'%(task2)s'.",
            task=old.task,
            task2=new.task,
        )
    gone = [name for name in old.names if name not in new.names]
    if gone:
        raise SchemaInUse(
            "The project has items, so this can add labels but not remove or rename any: "
            "'%(gone)s' is missing. Use a change of labels to rename, merge, split or retire "
            "it.",
            gone=gone[0],
        )
    if tuple(name for name in new.names if name in old.names) != old.names:
        raise SchemaInUse("The project has items, so its labels keep their order.")
    for label in old.labels:
        kept = new.label(label.name)
        if kept is not None and kept.point != label.point:
            raise SchemaInUse(
                "The project has items, so '%(name)s' stays %(point)s.",
                name=label.name,
                point=label.point,
            )


def announce_lost_rights(project: Project, user: User, role: str | None) -> None:
    """Tell other apps that ``user``, whose role is now ``role``, may no longer label."""
    if role not in ROLES_WITH[Right.REVIEW] and not user.is_superuser:
        reviewer_left.send(sender=Project, project=project, user=user)


def _require_other_manager(leaving: Membership) -> None:
    if is_last_manager(leaving):
        raise InvalidInput("A project needs a manager: give somebody else that role first.")
