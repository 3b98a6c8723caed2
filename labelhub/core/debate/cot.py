"""Chain of thought: one model, one call, which reasons step by step before it answers.

Source: paper 001, section 3.1 and figure 13. Differs from ``single`` in its prompt alone.
"""

from labelhub.core.debate.outcome import Debate, DebateItem, DebateSpec
from labelhub.core.debate.single import asked_once


def cot(item: DebateItem, spec: DebateSpec) -> Debate:
    """Ask the annotator once for its reasoning and its answer."""
    return (yield from asked_once(item, spec, {"logprobs": True}))
