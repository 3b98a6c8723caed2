"""What a debate says about its own certainty. Protocols gather signals; they route nothing.

Every outcome has, under ``signals``:

=============== ================================================================================
values          step → the value read there, None where there is none
statuses        step → how the call ended
off_menu        step → the answer given there that is not offered, where one was
injection       codes of the signs of orders in what strangers wrote (``injection.py``)
rung            the highest rung of the parsing ladder that was needed
margin          of the deciding answer: probability of the first label over the second, of a set
                that of its least sure label's being in or out over the contrary; or None
margin_unknown  why the margin is None, a key of ``NO_MARGIN``; "" where it is known
first           the first opinion, before anybody heard anybody else
=============== ================================================================================

and where there was a vote ``d_rate``, ``entropy``, ``votes``; after a discussion ``rounds``,
``rounds_needed``, ``first_d_rate``; after a trial ``candidates``, ``second_by``, ``heard_first``,
``lengths`` of both arguments in characters and ``lengths_read`` once they were made alike,
``precedents``, ``verdicts``, ``judge_changes``; after ECJ ``flips``; after a cascade ``stage`` and
``doubts``. Flags are codes of what asks for a look whatever the numbers say.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from labelhub.core.debate.ballots import Tally
from labelhub.core.debate.injection import item_flags
from labelhub.core.debate.outcome import DebateItem
from labelhub.core.llm import parsing
from labelhub.core.llm.types import Reply
from labelhub.core.schema import Value

#: The highest rung at which an answer keeps to the form that was asked for.
LAST_STRICT_RUNG = 3


NO_MARGIN: Mapping[str, str] = {
    "several": "several answers decided together, none by itself",
    "no_answer": "there is no answer that could be read",
    "no_probabilities": "the endpoint told no probabilities from which the label's could be read",
}


def told(
    item: DebateItem,
    replies: Mapping[str, Reply],
    *,
    first: Value | None,
    decided: Reply | None,
    labels: Sequence[str] = (),
) -> dict[str, Any]:
    """The signals that every debate has.

    Args:
        item: what was debated.
        replies: step to reply, in the order of the calls.
        first: the first opinion.
        decided: the reply that decided; None where several did.
        labels: the names that an answer may use.
    """
    return {
        "values": {step: reply.value for step, reply in replies.items()},
        "statuses": {step: str(reply.status) for step, reply in replies.items()},
        "off_menu": {step: reply.off_menu for step, reply in replies.items() if reply.off_menu},
        "injection": list(item_flags(item, labels)),
        "rung": max((reply.rung for reply in replies.values()), default=0),
        **_margin_of(decided),
        "first": first,
    }


def _margin_of(decided: Reply | None) -> dict[str, Any]:
    lead = margin(decided) if decided else None
    return {"margin": lead, "margin_unknown": _no_margin(decided) if lead is None else ""}


def _no_margin(decided: Reply | None) -> str:
    if decided is None:
        return "several"
    if not decided.ok:
        return "no_answer"
    return "no_probabilities"


def voted(count: Tally) -> dict[str, Any]:
    """The signals of a vote."""
    return {
        "d_rate": count.d_rate,
        "entropy": count.entropy,
        "votes": [[value, n] for value, n in count.votes],
    }


def flags(
    item: DebateItem,
    replies: Iterable[Reply],
    more: Iterable[str] = (),
    *,
    labels: Sequence[str] = (),
) -> tuple[str, ...]:
    """The codes of what asks for a look, each once: how answers ended, ``more``, injection."""
    replies = list(replies)
    found = [str(reply.status) for reply in replies if not reply.ok]
    found += ["lenient" for reply in replies if reply.ok and reply.rung > LAST_STRICT_RUNG]
    found += ["cut_off" for reply in replies if reply.ok and reply.cut_off]
    found += more
    found += ["injection"] if item_flags(item, labels) else []
    return tuple(dict.fromkeys(found))


def margin(reply: Reply) -> float | None:
    """Probability of the likeliest label less that of the next, or how far the least sure label of
    a set is from even; None where it is not known."""
    measure = parsing.set_margin if isinstance(reply.value, list) else parsing.margin
    lead = measure(reply.probabilities)
    return None if lead is None else round(lead, 4)
