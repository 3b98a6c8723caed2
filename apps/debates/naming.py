"""The names of protocols, roles and reasons on pages, in the language of the page."""

from typing import Any

from django.utils.functional import Promise
from django.utils.text import capfirst
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from apps.common.charts import KIND_WORDS, TEXT_MATCHER
from apps.labels.services import RELABEL
from labelhub.core.debate import PROTOCOLS
from labelhub.core.debate.cascade import FIRST, THEN
from labelhub.core.debate.routing import AUDIT, FLAGS
from labelhub.core.llm.types import Status


def protocol_title(name: str) -> str:
    """The title of a protocol; its name if this version does not know it."""
    info = PROTOCOLS.get(name)
    return gettext(info.title) if info else name


def annotator_words(name: str) -> str:
    """The name of an annotator; that of a run is stored in English: ``Vote: a + b``."""
    title, _colon, models = name.partition(": ")
    if not models or title not in {info.title for info in PROTOCOLS.values()}:
        return name
    return f"{gettext(title)}: {models.replace(TEXT_MATCHER, gettext(TEXT_MATCHER))}"


#: The roles of debates, and the names of prompts of a role.
_ROLES = {
    "annotator": gettext_noop("annotator"),
    "quoting_annotator": gettext_noop("quoting annotator"),
    "predictor": gettext_noop("predictor"),
    "drafter": gettext_noop("drafter"),
    "reviewer": gettext_noop("reviewer"),
    "refiner": gettext_noop("refiner"),
    "extractor": gettext_noop("extractor"),
    "critic": gettext_noop("critic"),
    "judge": gettext_noop("judge"),
    "clerk": gettext_noop("clerk"),
    "prosecutor": gettext_noop("prosecutor"),
    "defence": gettext_noop("defence"),
    "advocate": gettext_noop("advocate"),
    "reporter": gettext_noop("reporter"),
}


def role_name(role: str) -> str:
    """A role within a sentence: "annotator B" for ``annotator_b``."""
    stage, _line, rest = role.partition("_")
    if stage == FIRST and rest:
        return gettext("first %(role)s") % {"role": role_name(rest)}
    if stage == THEN and rest:
        return gettext("then %(role)s") % {"role": role_name(rest)}
    if stage == "annotator" and len(rest) == 1:
        return gettext("annotator %(letter)s") % {"letter": rest.upper()}
    return gettext(_ROLES[role]) if role in _ROLES else role.replace("_", " ")


def role_words(role: str) -> str:
    """The title of a role: "Annotator B" for ``annotator_b``."""
    return capfirst(role_name(role))


#: Values of protocols' settings.
_VALUES = (
    gettext_noop("Accept"), gettext_noop("After the label"), gettext_noop("All"),
    gettext_noop("Ask again"), gettext_noop("By item"), gettext_noop("Candidates"),
    gettext_noop("Chance"), gettext_noop("Defence"), gettext_noop("None"),
    gettext_noop("Parallel"), gettext_noop("Prosecution"), gettext_noop("Sequential"),
)  # fmt: skip


def setting_words(value: Any) -> str:
    """The value of a protocol's setting: a protocol, a kind of annotator, or words."""
    if value in PROTOCOLS:
        return protocol_title(value)
    known = KIND_WORDS.get(value) or capfirst(str(value))
    return gettext(known)


REASON_WORDS: dict[str, Promise] = {
    **{code: _(words) for code, words in FLAGS.items()},
    "low_d_rate": _("low: lead of the first answer (D_rate)"),
    "low_first_d_rate": _("low: lead before the discussion"),
    "low_margin": _("low: probability margin of the label"),
    "high_entropy": _("high: entropy of the votes"),
    "many_rounds": _("high: rounds of discussion"),
    "judges_changed": _("high: changes from judge to judge"),
    "uncertain": _("high: overall uncertainty"),
    AUDIT: _("audited at random"),
    RELABEL: _("the labels of the project were changed"),
}

#: Headings for the statuses of calls, worst first.
TROUBLE_WORDS: dict[str, Promise] = {
    Status.FAILED: _("Failed"),
    Status.REFUSED: _("Declined"),
    Status.TRUNCATED: _("Cut off"),
    Status.UNPARSED: _("Not readable"),
}
_ADVICE = {
    Status.REFUSED: _(
        "The model declined to answer. These items go to people; another model may answer them."
    ),
    Status.TRUNCATED: _(
        "The answer reached its token limit before it decided. These items go to people; raise the "
        "limit of the model under Model providers before the next run."
    ),
    Status.UNPARSED: _(
        "The answer names none of the offered labels. These items go to people; read an example, "
        "then describe the labels in more detail or choose another model."
    ),
}
_FAULTS = {
    0: _(
        "No answer came. Check that the endpoint is running and answers in time, then try the "
        "failed debates again."
    ),
    200: _(
        "The response is not the answer of a model. Check the base URL, then try the failed "
        "debates again."
    ),
    401: _("The endpoint rejected the key. Correct the key, then try the failed debates again."),
    402: _(
        "The account has no credit left. Add credit at the provider, then try the failed debates "
        "again."
    ),
    403: _("The key may not use this model. Correct the key, then try the failed debates again."),
    404: _(
        "The endpoint has no such model. Correct its name or the base URL, then try the failed "
        "debates again."
    ),
    413: _("The text is too long for the model. Shorten it, or choose a model with more context."),
    429: _(
        "The endpoint accepts no more requests. Wait or raise the limit there, then try the failed "
        "debates again."
    ),
}
_REJECTED = _(
    "The endpoint rejects this request; its message says why. It may accept a shorter text, or a "
    "model with other settings."
)
_SERVER = _(
    "The endpoint has an error of its own. Wait until it has recovered, then try the failed "
    "debates again."
)
_UNSENT = _("Read the message, fix the cause, then try the failed debates again.")


def reason_words(code: str) -> str:
    """The words for a reason; an unknown code is shown with blanks for underscores."""
    return str(REASON_WORDS.get(code, code.replace("_", " ")))


def trouble_advice(status: str, http_status: int | None) -> str:
    """What to do about calls with this status; ``http_status``: of the last attempt, 0 without an
    answer, None if nothing was sent."""
    if status != Status.FAILED:
        return str(_ADVICE.get(Status(status), ""))
    if http_status is None:
        return str(_UNSENT)
    usual = _SERVER if http_status >= 500 else _REJECTED
    return str(_FAULTS.get(http_status, usual))
