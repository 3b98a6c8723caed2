"""Why something that an author or a host sent is not taken; the codes are part of ``al.v1``."""

from labelhub.core.errors import Conflict, Forbidden, InvalidInput, LabelhubError, NotFound


class UnknownSite(NotFound):
    """No site has that key."""

    code = "not_found"


class OriginRefused(Forbidden):
    """The page's origin is not among those that the site allows."""

    code = "origin"


class SiteDisabled(Forbidden):
    """The site is switched off."""

    code = "disabled"


class IdentRequired(Forbidden):
    """The site serves only people whom its host has signed in."""

    code = "ident_required"


class ConsentOutdated(Conflict):
    """The text that was agreed to is not the site's present one."""

    code = "consent_outdated"


class OptedOut(Conflict):
    """The author does not want to be asked."""

    code = "opted_out"


class UnknownQuestion(NotFound):
    """No question has that id."""

    code = "unknown_question"


class NotYours(Forbidden):
    """The question was put to somebody else."""

    code = "not_yours"


class AlreadyAnswered(Conflict):
    """The question is settled."""

    code = "already_answered"


class Expired(Conflict):
    """The question was about a moment that is long gone."""

    code = "expired"


class TooEarly(LabelhubError):
    """The answer came before the question could be read; ``data['after_ms']`` tells how long."""

    code = "too_early"
    retryable = True
    http_status = 425


class TooLate(Conflict):
    """The time for taking an answer back is over."""

    code = "too_late"


class BadField(InvalidInput):
    """A field has a value that it cannot take."""

    code = "bad_field"


class TooLong(InvalidInput):
    """A message has more characters than are read."""

    code = "too_long"


class ConsentRequired(InvalidInput):
    """The host does not say that the author has agreed."""

    code = "consent_required"


class Erased(Conflict):
    """The author's data was deleted at this moment."""

    code = "erased"
