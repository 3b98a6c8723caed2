"""Debates: protocols by which several models reach one label. Pure Python, no I/O.

To add a protocol: write its generator in a file of its own beside ``ecj.py``, its prompts in
``prompts/<name>/<role>.md``, and add it to :data:`~labelhub.core.debate.protocols.PROTOCOLS`.
"""

from labelhub.core.debate.info import CallCount, Part, ProtocolInfo
from labelhub.core.debate.protocols import (
    LABELLING,
    PROTOCOLS,
    UnknownProtocol,
    can_answer,
    check_task,
    protocol,
)

__all__ = [
    "LABELLING",
    "PROTOCOLS",
    "CallCount",
    "Part",
    "ProtocolInfo",
    "UnknownProtocol",
    "can_answer",
    "check_task",
    "protocol",
]
