"""The answer to a task, by its kind: decided, or ranked."""

from labelhub.core.llm.offline.look import Look, Verdict
from labelhub.core.llm.offline.one import decide_one, ranked_ones
from labelhub.core.llm.offline.phrase import decide_phrase, ranked_phrases
from labelhub.core.llm.offline.scale import decide_point, ranked_points, words_for_point
from labelhub.core.llm.offline.several import decide_several, ranked_several
from labelhub.core.schema import Task


def decided(look: Look) -> Verdict:
    """What a role settles on, and its reasons."""
    match look.schema.task:
        case Task.MULTI:
            return decide_several(look)
        case Task.ORDINAL:
            return decide_point(look)
        case Task.TEXT:
            return decide_phrase(look)
        case Task.SINGLE | Task.PER_ITEM:
            return decide_one(look)


def ranked(look: Look) -> list[str]:
    """Everything that could be answered with one name or phrase, the best first."""
    match look.schema.task:
        case Task.MULTI:
            return ranked_several(look)
        case Task.ORDINAL:
            return ranked_points(look)
        case Task.TEXT:
            return ranked_phrases(look)
        case Task.SINGLE | Task.PER_ITEM:
            return ranked_ones(look)


def words_for(look: Look, name: str) -> tuple[str, ...]:
    """Phrases of the text that speak for an answer; none for one that is not offered."""
    if look.schema.task is Task.TEXT:
        return (name,) if name and name in look.reading.text and '"' not in name else ()
    if name not in look.profile.names:
        return ()
    at = look.profile.names.index(name)
    return words_for_point(look, at) if look.schema.task is Task.ORDINAL else look.quotes(at)
