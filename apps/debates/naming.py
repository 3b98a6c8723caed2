"""What protocols, roles and reasons are called, for people."""

from apps.labels.services import RELABEL
from labelhub.core.debate import PROTOCOLS
from labelhub.core.debate.routing import AT_MOST, AUDIT, FLAGS, THRESHOLDS
from labelhub.core.llm.types import Status


def protocol_title(name: str) -> str:
    """``self_consistency`` as people read it; the name of one that this version does not know."""
    info = PROTOCOLS.get(name)
    return info.title if info else name


def role_words(role: str) -> str:
    """``annotator_b`` as people read it: Annotator B."""
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
    RELABEL: "labels were changed",
}

#: How a call ended, as a heading, worst first.
TROUBLE_WORDS = {
    Status.FAILED: "Failed",
    Status.REFUSED: "Declined",
    Status.TRUNCATED: "Cut off",
    Status.UNPARSED: "Not readable",
}
_ADVICE = {
    Status.REFUSED: "The model declined to answer. These items go to people; another model may "
    "answer them.",
    Status.TRUNCATED: "The answer ended at its cap before it decided. These items go to people; "
    "give the model longer answers under Model providers before the next run.",
    Status.UNPARSED: "The answer names none of the offered labels. These items go to people; read "
    "an example, then say more about the labels or choose another model.",
}
_AGAIN = "then try the failed ones again."
_FAULTS = {
    0: f"No answer came. See that the endpoint runs and answers in time, {_AGAIN}",
    200: f"What came was no answer of a model. See what the base URL leads to, {_AGAIN}",
    401: f"The key was refused. Mend the key, {_AGAIN}",
    402: f"The account has nothing left. Pay there, {_AGAIN}",
    403: f"The key may not use this model. Mend the key, {_AGAIN}",
    404: f"There is no such model there. Mend its name or the base URL, {_AGAIN}",
    413: "The text is too long for the model. Shorten it, or choose a model with more context.",
    429: f"The endpoint would take no more. Wait or raise the limit there, {_AGAIN}",
}
_REJECTED = "The endpoint does not take this request as it is; its words say why. It may take a "
_SERVER = f"The endpoint is at fault. Wait until it has recovered, {_AGAIN}"


def reason_words(code: str) -> str:
    """The reason as people read it; a code without words as it is, blanks for underscores."""
    return REASON_WORDS.get(code, code.replace("_", " "))


def trouble_advice(status: str, http_status: int | None) -> str:
    """What to do about calls that ended so; ``http_status`` is that of the last attempt, 0 where
    no answer came, None where nothing was sent."""
    if status != Status.FAILED:
        return _ADVICE.get(Status(status), "")
    if http_status is None:
        return f"Read what it says, mend it, {_AGAIN}"
    if http_status in _FAULTS:
        return _FAULTS[http_status]
    if http_status >= 500:
        return _SERVER
    return f"{_REJECTED}shorter text, or a model that is set up differently."
