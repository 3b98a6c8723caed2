"""Errors for authors and hosts; the codes are part of the protocol ``al.v1``."""

from labelhub.core.errors import Conflict, Forbidden, InvalidInput, LabelhubError, NotFound


class UnknownSite(NotFound):
    """No site has that key."""

    code = "not_found"


class OriginRefused(Forbidden):
    """The page's origin is not among those that the site allows."""

    code = "origin"


class SiteDisabled(Forbidden):
    code = "disabled"


class IdentRequired(Forbidden):
    """The site asks only authors whom its host has signed in."""

    code = "ident_required"


class ConsentOutdated(Conflict):
    """The author agreed to another text than the site's present one."""

    code = "consent_outdated"


class OptedOut(Conflict):
    code = "opted_out"


class UnknownQuestion(NotFound):
    code = "unknown_question"


class NotYours(Forbidden):
    """The question was for another author."""

    code = "not_yours"


class AlreadyAnswered(Conflict):
    """The question is already answered or dismissed."""

    code = "already_answered"


class Expired(Conflict):
    """The time to answer the question is over."""

    code = "expired"


class TooEarly(LabelhubError):
    """The answer came before the question could be read; ``data['after_ms']``: the time to wait."""

    code = "too_early"
    retryable = True
    http_status = 425


class TooLate(Conflict):
    """The time to undo an answer is over."""

    code = "too_late"


class BadField(InvalidInput):
    code = "bad_field"


class TooLong(InvalidInput):
    code = "too_long"


class ConsentRequired(InvalidInput):
    """The host did not confirm that the author has agreed."""

    code = "consent_required"


class Erased(Conflict):
    """The author's data was deleted meanwhile."""

    code = "erased"
