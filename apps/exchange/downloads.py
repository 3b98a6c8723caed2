"""Access to files of a project, and exports as streamed responses."""

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.db import transaction
from django.http import StreamingHttpResponse
from django.utils.translation import gettext

from apps.accounts.models import User
from apps.accounts.roles import Role
from apps.common.audit import Action, record
from apps.exchange.exporters import export_format, export_pieces, file_name
from apps.labels.blindness import ONLY_AUDITED, opinions_hidden_from, withholds
from apps.labels.models import ItemState
from apps.projects.models import Project
from apps.projects.selectors import role_in
from apps.reviews.queue.selectors import review_settings
from labelhub.core.errors import Forbidden


def check_download(user: User | AnonymousUser, project: Project) -> None:
    """Refuse (Forbidden) a reviewer who must not see the contents of a file yet."""
    if reason := download_refusal(user, project):
        raise Forbidden(reason)


def download_refusal(user: User | AnonymousUser, project: Project) -> str:
    """The reason why ``user`` may not have a file; empty if they may. A file would show a reviewer
    hidden suggestions, gold questions, and others' labels of items that they may still get."""
    if role_in(user, project) != Role.REVIEWER:
        return ""
    states = ItemState.objects.filter(project=project)
    labelled = states.filter(
        opinions_hidden_from(user.pk or 0, item="item_id"), labels_by_people__gt=0
    )
    if not review_settings(project).show_opinions and labelled.exists():
        return gettext(
            "A file would show others' labels of items that you may still get; label those items "
            "first, or ask a manager for the file."
        )
    audited = ItemState.objects.filter(project=project, queued=True, reasons=ONLY_AUDITED)
    if withholds(project) or audited.exists():
        return gettext(
            "This project hides suggestions or gold questions from its reviewers, and a file would "
            "show them; ask a manager for the file."
        )
    return ""


def export_response(
    project: Project, *, format_name: str, filters: Mapping[str, Any]
) -> StreamingHttpResponse:
    """The export as a download.

    Raises:
        InvalidInput: an unknown format, or filters that cannot be used.
    """
    wanted = export_format(format_name)
    pieces = export_pieces(project, wanted, filters=filters)
    with transaction.atomic():
        record(Action.EXPORT_DOWNLOADED, project, changes={"format": (None, format_name)})
    response = StreamingHttpResponse(pieces, content_type=wanted.content_type)
    name = file_name(project, wanted, filters=filters)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    response["X-Accel-Buffering"] = "no"
    return response
