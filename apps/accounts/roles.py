"""Roles of project members, and their rights."""

from django.db.models import TextChoices


class Role(TextChoices):
    """What a member may do; every role includes the ones after it."""

    MANAGER = "manager", "Manager"
    REVIEWER = "reviewer", "Reviewer"
    VIEWER = "viewer", "Viewer"


class ReviewerKind(TextChoices):
    """The annotator kind of a member."""

    CROWD = "crowd", "Crowd"
    EXPERT = "expert", "Expert"


class Right(TextChoices):
    """What a request does with a project."""

    VIEW = "view", "See"
    REVIEW = "review", "Label and review"
    MANAGE = "manage", "Change"


ROLES_WITH: dict[Right, tuple[Role, ...]] = {
    Right.VIEW: (Role.MANAGER, Role.REVIEWER, Role.VIEWER),
    Right.REVIEW: (Role.MANAGER, Role.REVIEWER),
    Right.MANAGE: (Role.MANAGER,),
}
