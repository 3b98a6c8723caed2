"""The base of REST views below a project: the project, and the right that a view needs."""

from functools import cached_property
from typing import Any, ClassVar

from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request

from apps.accounts.roles import Right
from apps.common.api.viewsets import ApiViewSet
from apps.projects.models import Project
from apps.projects.selectors import get_project


class ProjectViewSet(ApiViewSet):
    """``self.project`` of the URL's ``slug``; strangers get 404, members without the right 403.

    It checks before any handler runs, so a handler that never uses ``self.project`` is guarded too.
    """

    read_right: ClassVar[Right] = Right.VIEW
    write_right: ClassVar[Right] = Right.MANAGE

    def needed_right(self) -> Right:
        """The right that the method needs."""
        return self.read_right if self.request.method in SAFE_METHODS else self.write_right

    def needed_scope(self) -> str:
        """Keys that label may do what reviewers may."""
        scope = super().needed_scope()
        return "label" if scope == "write" and self.needed_right() != Right.MANAGE else scope

    @cached_property
    def project(self) -> Project:
        """The project, after the check of the right."""
        return get_project(self.request.user, self.kwargs["slug"], self.needed_right())

    def lock_shown(self) -> None:
        """Lock the project, as those who change its members, labels or items do."""
        Project.objects.select_for_update(no_key=True).filter(pk=self.project.pk).first()
        del self.project

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Check the right once the caller is known."""
        super().initial(request, *args, **kwargs)
        _ = self.project
