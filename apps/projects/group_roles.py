"""Roles that groups of the company's provider give in projects.

A membership that a group gave names the group, and goes when no group gives it any more. One that
was given by hand stays as it is. Evaluated at each sign-in, when a directory changes a group, and
when a project's list of groups changes.
"""

import logging
from typing import Any

from django.db import transaction
from django.db.models import Q

from apps.accounts.directory import groups_of
from apps.accounts.models import User
from apps.accounts.roles import ReviewerKind, Role
from apps.common.audit import Action, differences, record
from apps.common.validation import check_model
from apps.projects.models import GroupRole, Membership, Project
from apps.projects.selectors import is_last_manager
from apps.projects.services import announce_lost_rights, lock_project
from labelhub.core.errors import NotFound

logger = logging.getLogger(__name__)
_PLACE = ("role", "kind", "group")


def roles_of_groups(project: Project) -> list[GroupRole]:
    """The project's groups and what they give, by name."""
    return list(project.group_roles.all())


@transaction.atomic
def set_group_role(
    *, project: Project, group: str, role: str, kind: str, actor: User | None
) -> GroupRole:
    """Give everybody in ``group`` this role and kind, now and later.

    Raises:
        InvalidInput: the name is empty or too long, or role or kind is unknown.
    """
    lock_project(project)
    group = group.strip()
    rule = project.group_roles.filter(group=group).first() or GroupRole(
        project=project, group=group
    )
    before = {"role": rule.role, "kind": rule.kind} if rule.pk else {}
    rule.role, rule.kind = role, kind
    check_model(rule)
    rule.save()
    if changes := differences(before, {"role": role, "kind": kind}):
        record(Action.GROUP_ROLE_CHANGED, rule, actor=actor, name=group, changes=changes)
    _apply_to_people(project, group)
    return rule


@transaction.atomic
def remove_group_role(*, project: Project, rule_id: int, actor: User | None) -> GroupRole:
    """Let the group give nothing any more.

    Raises:
        NotFound: the project has no such group.
    """
    lock_project(project)
    rule = project.group_roles.filter(pk=rule_id).first()
    if rule is None:
        raise NotFound("This project has no such group.")
    gone = {"role": (rule.role, None), "kind": (rule.kind, None)}
    record(Action.GROUP_ROLE_REMOVED, rule, actor=actor, name=rule.group, changes=gone)
    GroupRole.objects.filter(pk=rule.pk).delete()
    _apply_to_people(project, rule.group)
    return rule


def apply_group_roles(user: User, **_: Any) -> None:
    """Make the memberships of ``user`` what their groups give, but for those given by hand."""
    best = _best_rules(user)
    given = Membership.objects.filter(user=user).exclude(group="")
    projects = Project.objects.filter(Q(pk__in=best) | Q(pk__in=given.values("project")))
    for project in projects.order_by("pk"):
        _apply(project, user, best.get(project.pk))


def _best_rules(user: User) -> dict[int, GroupRole]:
    """Project → the rule that counts for ``user``; none of somebody who is not active."""
    rules = GroupRole.objects.filter(group__in=groups_of(user)) if user.is_active else []
    best: dict[int, GroupRole] = {}
    for rule in sorted(rules, key=_weight):
        best.setdefault(rule.project_id, rule)
    return best


def _weight(rule: GroupRole) -> tuple[int, bool, str]:
    """The role that allows most comes first, then experts."""
    return Role.values.index(rule.role), rule.kind != ReviewerKind.EXPERT, rule.group


def _apply(project: Project, user: User, rule: GroupRole | None) -> None:
    lock_project(project)
    member = project.memberships.filter(user=user).first()
    if member is not None and not member.group:
        return
    if member is not None and is_last_manager(member) and (not rule or rule.role != Role.MANAGER):
        logger.warning("%s has no manager but operators now", project.slug)
    if rule is None:
        if member is not None:
            gone = {name: (getattr(member, name), None) for name in _PLACE}
            member.delete()
            record(Action.MEMBER_REMOVED, user, project=project, changes=gone)
    else:
        before = {name: getattr(member, name) for name in _PLACE} if member else {}
        member = member or Membership(project=project, user=user)
        changes = differences(before, {name: getattr(rule, name) for name in _PLACE})
        if not changes:
            return
        member.role, member.kind, member.group = rule.role, rule.kind, rule.group
        member.save()
        action = Action.MEMBER_CHANGED if before else Action.MEMBER_ADDED
        record(action, user, project=project, changes=changes)
    announce_lost_rights(project, user, role=rule.role if rule else None)


def _apply_to_people(project: Project, group: str) -> None:
    concerned = Q(group_members__group__name=group) | Q(
        memberships__project=project, memberships__group=group
    )
    for user in User.objects.filter(concerned).distinct().order_by("pk"):
        # In this project only: nobody locks a second one out of order.
        _apply(project, user, _best_rules(user).get(project.pk))
