"""The page that says why a sign-in at the provider did not work, and what to do."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from labelhub.core.phrases import Phrase

#: Reason → status, and what people read.
REASONS = {
    "denied": (403, _("You did not allow the sign-in, or your company does not allow it to you.")),
    "expired": (
        400,
        _("This sign-in was started too long ago, in another browser, or was used already."),
    ),
    "unavailable": (503, _("The sign-in of your company does not answer. Try again in a minute.")),
    "clock": (
        502,
        _("The clocks of this server and of your company's sign-in differ: tell an operator."),
    ),
    "rejected": (
        502,
        _("The answer of your company's sign-in cannot be trusted: tell an operator."),
    ),
    "refused": (403, ""),
}


def failure_page(request: HttpRequest, reason: str, words: Phrase | None = None) -> HttpResponse:
    """The page for one of :data:`REASONS`, or with ``words`` of an error, which name no secret."""
    status, text = REASONS[reason]
    context = {"words": words or gettext(text), "again": reason != "refused"}
    return render(request, "accounts/sign_in_failed.html", context, status=status)
