"""Who may have a file of the project, and exports as responses, sent while they are read."""

from django.contrib.auth.models import AnonymousUser
from django.http import StreamingHttpResponse

from apps.accounts.models import User
from apps.accounts.roles import Role
from apps.exchange.exporters import export_format, export_pieces, file_name
from apps.labels.blindness import ONLY_AUDITED, opinions_hidden_from, withholds
from apps.labels.models import ItemState
from apps.projects.models import Project
from apps.projects.selectors import role_in
from apps.reviews.queue.selectors import review_settings
from labelhub.core.errors import Forbidden


def refuse_who_is_blind(user: User | AnonymousUser, project: Project) -> None:
    """Pass where :func:`withheld_from` says nothing.

    Raises:
        Forbidden: with its words.
    """
    if words := withheld_from(user, project):
        raise Forbidden(words)


def withheld_from(user: User | AnonymousUser, project: Project) -> str:
    """Why ``user`` may not have a file, or nothing. A file tells everything at once: suggestions
    that a reviewer is to do without, the known answers that people are checked by, and what others
    have said of items that the reviewer may yet be asked about."""
    if role_in(user, project) != Role.REVIEWER:
        return ""
    states = ItemState.objects.filter(project=project)
    spoken = states.filter(
        opinions_hidden_from(user.pk or 0, item="item_id"), labels_by_people__gt=0
    )
    if not review_settings(project).show_opinions and spoken.exists():
        return (
            "A file would tell what others said of items that you may yet be asked about; "
            "label them first, or ask a manager for it."
        )
    audited = ItemState.objects.filter(project=project, queued=True, reasons=ONLY_AUDITED)
    if withholds(project) or audited.exists():
        return (
            "This project withholds suggestions or known answers from its reviewers, and a file "
            "would tell them; ask a manager for it."
        )
    return ""


def export_response(project: Project, *, format_name: str, only: str = "") -> StreamingHttpResponse:
    """The export as a download.

    Raises:
        InvalidInput: an unknown format or ``only``.
    """
    wanted = export_format(format_name)
    pieces = export_pieces(project, wanted, only=only)
    response = StreamingHttpResponse(pieces, content_type=wanted.content_type)
    name = file_name(project, wanted, only=only)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    response["X-Accel-Buffering"] = "no"
    return response
