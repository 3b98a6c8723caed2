"""Errors for authors and hosts; the codes are part of the protocol ``al.v1``."""

from labelhub.core.errors import Conflict, Forbidden, InvalidInput, LabelhubError, NotFound


class UnknownSite(NotFound):
    code = "not_found"


class OriginRefused(Forbidden):
    code = "origin"


class SiteDisabled(Forbidden):
    code = "disabled"


class IdentRequired(Forbidden):
    code = "ident_required"


class ConsentOutdated(Conflict):
    """The author agreed to another text than the site's present one."""

    code = "consent_outdated"


class OptedOut(Conflict):
    code = "opted_out"


class UnknownQuestion(NotFound):
    code = "unknown_question"


class NotYours(Forbidden):
    code = "not_yours"


class AlreadyAnswered(Conflict):
    code = "already_answered"


class Expired(Conflict):
    code = "expired"


class TooEarly(LabelhubError):
    """The answer came before the question could be read; ``data['after_ms']``: the time to wait."""

    code = "too_early"
    retryable = True
    http_status = 425


class TooLate(Conflict):
    code = "too_late"


class BadField(InvalidInput):
    code = "bad_field"


class TooLong(InvalidInput):
    code = "too_long"


class ConsentRequired(InvalidInput):
    """The host did not confirm that the author has agreed."""

    code = "consent_required"


class Erased(Conflict):
    code = "erased"
