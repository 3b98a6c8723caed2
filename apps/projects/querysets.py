"""Visibility and other chainable filters of projects and items."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from django.contrib.auth.models import AnonymousUser
from django.db import models

from apps.accounts.roles import ROLES_WITH, Right

if TYPE_CHECKING:
    from apps.accounts.models import User
    from apps.projects.models import ImportBatch, Item, Project  # noqa: F401 - of the bases below


class ProjectQuerySet(models.QuerySet["Project"]):
    """Projects."""

    def open_to(self, user: "User | AnonymousUser", right: Right) -> "ProjectQuerySet":
        """Projects in which ``user`` holds a role that includes ``right``.

        Operators (superusers) hold every right everywhere.
        """
        if not user.is_authenticated:
            return self.none()
        if user.is_superuser:
            return self
        # A person is a member once: the join cannot double a row.
        return self.filter(memberships__user=user, memberships__role__in=ROLES_WITH[right])

    def visible_to(self, user: "User | AnonymousUser") -> "ProjectQuerySet":
        """Projects that ``user`` may know of."""
        return self.open_to(user, Right.VIEW)


class ItemQuerySet(models.QuerySet["Item"]):
    """Items."""

    def visible_to(self, user: "User | AnonymousUser") -> "ItemQuerySet":
        """Items of projects that ``user`` may know of."""
        if not user.is_authenticated:
            return self.none()
        return self if user.is_superuser else self.filter(project__memberships__user=user)

    def named(self, project: "Project", external_ids: Iterable[str]) -> "ItemQuerySet":
        """The project's items of these ids, by id.

        The order is what makes SQLite look each of them up: by itself it takes a project for a few
        items and reads all of a million for each thousand ids.
        """
        found = self.filter(project=project, external_id__in=list(external_ids))
        return found.order_by("external_id")


class ImportBatchQuerySet(models.QuerySet["ImportBatch"]):
    """Imports."""

    def unfinished(self) -> "ImportBatchQuerySet":
        """Imports that somebody started and that have not ended."""
        return self.filter(status__in=["queued", "running"])
