"""The names of protocols, roles and reasons on pages."""

from apps.labels.services import RELABEL
from labelhub.core.debate import PROTOCOLS
from labelhub.core.debate.routing import AT_MOST, AUDIT, FLAGS, THRESHOLDS
from labelhub.core.llm.types import Status


def protocol_title(name: str) -> str:
    """The title of a protocol; its name if this version does not know it."""
    info = PROTOCOLS.get(name)
    return info.title if info else name


def role_words(role: str) -> str:
    """The title of a role: "Annotator B" for ``annotator_b``."""
    first, *words = role.split("_")
    last = [words.pop().upper()] if words and len(words[-1]) == 1 else []
    return " ".join([first.capitalize(), *words, *last])


REASON_WORDS = {
    **FLAGS,
    **{
        threshold.reason: f"{'low' if threshold.side == AT_MOST else 'high'}: "
        f"{threshold.title[:1].lower()}{threshold.title[1:]}"
        for threshold in THRESHOLDS
    },
    AUDIT: "audited at random",
    RELABEL: "the labels of the project were changed",
}

#: Headings for the statuses of calls, worst first.
TROUBLE_WORDS = {
    Status.FAILED: "Failed",
    Status.REFUSED: "Declined",
    Status.TRUNCATED: "Cut off",
    Status.UNPARSED: "Not readable",
}
_ADVICE = {
    Status.REFUSED: "The model declined to answer. These items go to people; another model may "
    "answer them.",
    Status.TRUNCATED: "The answer reached its token limit before it decided. These items go to "
    "people; raise the limit of the model under Model providers before the next run.",
    Status.UNPARSED: "The answer names none of the offered labels. These items go to people; read "
    "an example, then describe the labels in more detail or choose another model.",
}
_AGAIN = "then try the failed debates again."
_FAULTS = {
    0: f"No answer came. Check that the endpoint is running and answers in time, {_AGAIN}",
    200: f"The response is not the answer of a model. Check the base URL, {_AGAIN}",
    401: f"The endpoint rejected the key. Correct the key, {_AGAIN}",
    402: f"The account has no credit left. Add credit at the provider, {_AGAIN}",
    403: f"The key may not use this model. Correct the key, {_AGAIN}",
    404: f"The endpoint has no such model. Correct its name or the base URL, {_AGAIN}",
    413: "The text is too long for the model. Shorten it, or choose a model with more context.",
    429: f"The endpoint accepts no more requests. Wait or raise the limit there, {_AGAIN}",
}
_REJECTED = "The endpoint rejects this request; its message says why. It may accept a "
_SERVER = f"The endpoint has an error of its own. Wait until it has recovered, {_AGAIN}"


def reason_words(code: str) -> str:
    """The words for a reason; an unknown code is shown with blanks for underscores."""
    return REASON_WORDS.get(code, code.replace("_", " "))


def trouble_advice(status: str, http_status: int | None) -> str:
    """What to do about calls with this status; ``http_status``: of the last attempt, 0 without an
    answer, None if nothing was sent."""
    if status != Status.FAILED:
        return _ADVICE.get(Status(status), "")
    if http_status is None:
        return f"Read the message, fix the cause, {_AGAIN}"
    if http_status in _FAULTS:
        return _FAULTS[http_status]
    if http_status >= 500:
        return _SERVER
    return f"{_REJECTED}shorter text, or a model with other settings."
