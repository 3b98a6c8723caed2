"""How far the voters of an arm agree: in all, on ambiguous and on normal items, by round."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from apps.agreement.experiments.ambiguity import Ambiguity
from apps.agreement.experiments.answers import Answers, ArmAnswers
from apps.agreement.experiments.doubt import with_ends
from apps.agreement.experiments.opinions import first_voices
from labelhub.core.agreement.coding import NOTHING
from labelhub.core.agreement.judges import Agreement, agreement
from labelhub.core.agreement.resampling import Ints, Resample
from labelhub.core.debate import protocol


@dataclass(frozen=True, slots=True)
class Voices:
    """``who`` votes; ``parts`` are what they agree on, by words: all items, ambiguous, normal."""

    who: str
    parts: Mapping[str, Agreement]

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form."""
        return {"who": self.who} | {
            words.replace(" ", "_"): part.to_json() for words, part in self.parts.items()
        }


def voices_of(
    sample: Resample, answers: Answers, each: ArmAnswers, by: Ambiguity | None
) -> Voices | None:
    """Of one arm; None where nobody votes."""
    opinions = protocol(each.arm.run.protocol).opinions
    who = opinions.voters if opinions else ""
    if not who or not any(each.told["votes"]):
        return None
    count = _Count(sample, answers, each.rows)
    votes = count.of([_ballots(told) for told in each.told["votes"]])
    everything = np.ones(len(answers.items), dtype=bool)
    parts = {"all items": count.agreement(votes, everything)}
    if "rounds" in each.told:
        alone = count.of([_one_each(first_voices(told)) for told in each.told["rounds"]])
        parts["before the discussion"] = count.agreement(alone, everything)
    if by is not None:
        parts["ambiguous items"] = count.agreement(votes, by.ambiguous)
        parts["normal items"] = count.agreement(votes, by.normal)
    return Voices(who, parts)


@dataclass(frozen=True, slots=True)
class _Count:
    sample: Resample
    answers: Answers
    rows: Ints

    def of(self, ballots: Sequence[Sequence[tuple[Any, int]]]) -> Ints:
        """Votes by category, shape (debates, categories); abstentions are no answers."""
        codes = self.answers.codes
        coded = [[(codes.of(value), n) for value, n in each] for each in ballots]
        table = np.zeros((len(coded), max(1, len(codes))), dtype=np.int64)
        for line, each in enumerate(coded):
            for code, n in each:
                if code != NOTHING:
                    table[line, code] += n
        return table[:, table.any(axis=0)]

    def agreement(self, votes: Ints, items: NDArray[np.bool_]) -> Agreement:
        kept = items[self.rows]
        fixed = not self.answers.schema.task.item_options
        found = agreement(self.sample, self.rows[kept], votes[kept], same_options=fixed)
        return replace(found, percent=with_ends(found.percent))


def _ballots(told: Any) -> list[tuple[Any, int]]:
    """The signal ``votes``: answers with their counts."""
    return [(value, n) for value, n in told] if isinstance(told, list) else []


def _one_each(voices: Sequence[Any]) -> list[tuple[Any, int]]:
    """One ballot each."""
    return [(value, 1) for value in voices]
