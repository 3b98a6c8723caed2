"""The selection of a message: the one that asking has made, or one of the feature models alone."""

from django.db import transaction

from apps.authors.models import Message, Site
from apps.authors.services.locking import lock_author
from apps.authors.services.site_config import config_of
from apps.echo.models import Selection
from apps.echo.services.choosing import EchoChooser, forget_known, heads_for, known_echo
from labelhub.core.errors import Conflict

#: What these drop no selection is made of: it is not worth it, nobody's business, or too late.
NEVER = ("screen", "sensitive", "left", "interrupted")


def selection_for(message: Message) -> Selection | None:
    """The one selection of a message, made where there is none yet and nobody asks about it now.

    None where Echo is off, the message's text is not kept, or it was dropped by one of
    :data:`NEVER`.
    """
    found = Selection.objects.filter(message=message).first()
    if found is not None:
        return found
    waits = message.status == Message.Status.RECEIVED or message.role != Message.Role.AUTHOR
    if waits or not message.text or message.dropped_at in NEVER:
        return None
    return select_unasked(message)


def select_unasked(message: Message) -> Selection | None:
    """A selection by the feature models alone, which ask no language model; None where Echo is
    off, or the author's data was deleted meanwhile. Of two who make one at once, and of asking
    meanwhile, the first has made it."""
    chooser = _chosen(message)
    if chooser is None:
        return None
    with transaction.atomic():
        if lock_author(message.author_id) is None:
            return None
        chooser.store_unasked()
    return Selection.objects.filter(message=message).first()


def selection_if(message: Message) -> Selection | None:
    """What would be selected of a message that nobody has sent; nothing is stored."""
    chooser = _chosen(message)
    return None if chooser is None else chooser.made()


def _chosen(message: Message) -> EchoChooser | None:
    """The choice by the feature models alone; None where Echo is off."""
    kit = config_of(message.author.site)
    chooser = heads_for(message, kit.features)
    if chooser is None:
        return None
    ranked = chooser.ranked(kit.definitions)
    expected = chooser.expected(ranked, {}, {})
    chooser.wanted(list(expected), 0)
    return chooser


def check_on(site: Site) -> None:
    """Refuse to select where Echo is off.

    Raises:
        Conflict: it is.
    """
    if known_echo(site).echo is None:
        forget_known(site.pk)  # it may have been switched on just now
        if known_echo(site).echo is None:
            raise Conflict("Echo is switched off at this site; a manager can switch it on.")
