"""Debates: how several models come to one label. Pure Python, no I/O.

To add a protocol: write its generator in a file of its own beside ``ecj.py``, its prompts in
``prompts/<name>/<role>.md``, and add it to :data:`PROTOCOLS` below.
"""

from collections.abc import Callable
from dataclasses import dataclass

from labelhub.core.debate import ecj, single
from labelhub.core.debate.outcome import Debate, DebateItem, DebateSpec
from labelhub.core.errors import InvalidInput
from labelhub.core.schema import Task


class UnknownProtocol(InvalidInput):
    """No protocol has that name; the message lists those there are."""

    code = "unknown_protocol"


@dataclass(frozen=True, slots=True)
class ProtocolInfo:
    """A protocol and what to know about it before choosing it.

    ``roles`` are in the order in which they speak; each has a model and a prompt of its own.
    """

    name: str
    title: str
    description: str
    roles: tuple[str, ...]
    start: Callable[[DebateItem, DebateSpec], Debate]
    calls_per_item: int
    tasks: tuple[Task, ...] = tuple(Task)


PROTOCOLS: dict[str, ProtocolInfo] = {
    info.name: info
    for info in (
        ProtocolInfo(
            name="single",
            title="Single annotator",
            description="One model labels each text in one call: the baseline for every debate.",
            roles=single.ROLES,
            start=single.single,
            calls_per_item=1,
        ),
        ProtocolInfo(
            name="ecj",
            title="Extractor, critic, judge",
            description="One model proposes with quotations, one attacks, one decides.",
            roles=ecj.ROLES,
            start=ecj.ecj,
            calls_per_item=3,
        ),
    )
}


def protocol(name: str) -> ProtocolInfo:
    """The protocol of that name.

    Raises:
        UnknownProtocol: there is none.
    """
    found = PROTOCOLS.get(name)
    if found is None:
        known = ", ".join(PROTOCOLS)
        raise UnknownProtocol(f"protocol: '{name}' is not known; there are {known}.")
    return found
