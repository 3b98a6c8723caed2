"""All protocols, in the order in which they are offered: one module each, with its ``INFO``."""

from labelhub.core.debate import (
    cascade,
    cot,
    courtroom,
    discussion,
    ecj,
    predict,
    self_consistency,
    self_refine,
    single,
    vote,
)
from labelhub.core.debate.info import ProtocolInfo, Settings
from labelhub.core.errors import InvalidInput
from labelhub.core.schema import LabelType

_MODULES = (
    single,
    cot,
    self_consistency,
    self_refine,
    vote,
    ecj,
    discussion,
    courtroom,
    cascade,
    predict,
)

PROTOCOLS: dict[str, ProtocolInfo] = {module.INFO.name: module.INFO for module in _MODULES}
#: The protocols that make labels.
LABELLING = {name: info for name, info in PROTOCOLS.items() if not info.trials_only}


class UnknownProtocol(InvalidInput):
    """No protocol has that name; the message lists all names."""

    code = "unknown_protocol"


def protocol(name: str) -> ProtocolInfo:
    """The protocol of that name.

    Raises:
        UnknownProtocol: there is no such protocol.
    """
    found = PROTOCOLS.get(name)
    if found is None:
        known = ", ".join(PROTOCOLS)
        raise UnknownProtocol(f"protocol: '{name}' is unknown; it must be one of {known}.")
    return found


def can_answer(info: ProtocolInfo, settings: Settings, task: LabelType) -> bool:
    """Whether a protocol, with all its stages, answers questions of that type."""
    return all(stage.answers(task) for stage in _stages_of(info, settings))


def check_task(info: ProtocolInfo, settings: Settings, task: LabelType) -> None:
    """Refuse a protocol that cannot, or has a stage that cannot, answer the question.

    Raises:
        InvalidInput: with the protocol and the label types that it can answer.
    """
    for stage in _stages_of(info, settings):
        if not stage.answers(task):
            raise InvalidInput(
                f"protocol: '{stage.name}' cannot answer questions of the task '{task}' "
                f"(it can {', '.join(map(str, stage.tasks))}): {stage.not_for}"
            )


def _stages_of(info: ProtocolInfo, settings: Settings) -> tuple[ProtocolInfo, ...]:
    return (info,) if info.stages is None else tuple(info.stages(settings).values())
