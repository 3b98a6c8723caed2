"""Who may not have a file, though they may see the project."""

from django.contrib.auth.models import AnonymousUser

from apps.accounts.models import User
from apps.accounts.roles import Role
from apps.projects.models import Project
from apps.projects.selectors import role_in
from labelhub.core.errors import Forbidden


def refuse_who_is_blind(user: User | AnonymousUser, project: Project) -> None:
    """A file tells everything at once: suggestions that a reviewer is to do without, and the known
    answers that people are checked by.

    Raises:
        Forbidden: the project withholds such, and ``user`` reviews it.
    """
    withholds = project.blind_share or project.check_share or project.qualify_items
    if withholds and role_in(user, project) == Role.REVIEWER:
        raise Forbidden(
            "This project withholds suggestions or known answers from its reviewers, and a file "
            "would tell them; ask a manager for it."
        )
