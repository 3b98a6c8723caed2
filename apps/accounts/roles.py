"""Roles of project members, and their rights."""

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _


class Role(TextChoices):
    """What a member may do; every role includes the ones after it."""

    MANAGER = "manager", _("Manager")
    REVIEWER = "reviewer", _("Reviewer")
    VIEWER = "viewer", _("Viewer")


class ReviewerKind(TextChoices):
    """The annotator kind of a member."""

    CROWD = "crowd", _("Crowd")
    EXPERT = "expert", _("Expert")


class Right(TextChoices):
    """What a request does with a project."""

    VIEW = "view", _("See")
    REVIEW = "review", _("Label and review")
    MANAGE = "manage", _("Change")


ROLES_WITH: dict[Right, tuple[Role, ...]] = {
    Right.VIEW: (Role.MANAGER, Role.REVIEWER, Role.VIEWER),
    Right.REVIEW: (Role.MANAGER, Role.REVIEWER),
    Right.MANAGE: (Role.MANAGER,),
}
