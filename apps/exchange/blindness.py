"""Who may not have a file, though they may see the project."""

from django.contrib.auth.models import AnonymousUser

from apps.accounts.models import User
from apps.accounts.roles import Role
from apps.labels.blindness import ONLY_AUDITED, withholds
from apps.labels.models import ItemState
from apps.projects.models import Project
from apps.projects.selectors import role_in
from labelhub.core.errors import Forbidden


def refuse_who_is_blind(user: User | AnonymousUser, project: Project) -> None:
    """A file tells everything at once: suggestions that a reviewer is to do without, and the known
    answers that people are checked by.

    Raises:
        Forbidden: the project withholds such, or has people audit blind, and ``user`` reviews it.
    """
    if role_in(user, project) != Role.REVIEWER:
        return
    audited = ItemState.objects.filter(project=project, queued=True, reasons=ONLY_AUDITED)
    if withholds(project) or audited.exists():
        raise Forbidden(
            "This project withholds suggestions or known answers from its reviewers, and a file "
            "would tell them; ask a manager for it."
        )
