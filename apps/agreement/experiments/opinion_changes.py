"""Changes of opinion, for better or worse: from first opinion to last, and by round."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from apps.agreement.experiments.answers import Answers, ArmAnswers, Rounds
from labelhub.core.agreement.figures import Resample
from labelhub.core.agreement.opinions import OpinionChanges, count_changes
from labelhub.core.agreement.ratings import Ints
from labelhub.core.debate import protocol
from labelhub.core.debate.info import Opinions


@dataclass(frozen=True, slots=True)
class Step:
    """From one opinion to the next: by their names, or the round between them by its number."""

    first: str
    changes: OpinionChanges
    last: str = ""
    number: int = 0

    @property
    def whole(self) -> bool:
        """Whether it is from the first opinion to the last of a debate."""
        return bool(self.last)

    @property
    def words(self) -> str:
        """Both opinions, in English: ``Extractor → judge``, ``Round 1 → 2``."""
        if self.whole:
            return f"{self.first} → {self.last}"
        return f"{self.first} {self.number} → {self.number + 1}"

    def to_json(self) -> dict[str, Any]:
        return {"step": self.words, "whole": self.whole} | self.changes.to_json()


def steps_of(sample: Resample, answers: Answers, answered: ArmAnswers) -> list[Step]:
    """The steps of an arm; none where there is but one opinion."""
    opinions = protocol(answered.arm.run.protocol).opinions
    if opinions is None or not len(answered.rows):
        return []
    gold = answers.gold[answered.rows]
    first = answers.codes.all_of(answered.signals["first"])
    whole = count_changes(sample, answered.rows, first == gold, answered.predicted == gold)
    return [
        Step(opinions.first, whole, last=opinions.last),
        *_by_round(sample, answers, answered, opinions),
    ]


def _by_round(
    sample: Resample, answers: Answers, answered: ArmAnswers, opinions: Opinions
) -> Iterator[Step]:
    if not opinions.rounds:
        return
    rounds = Rounds(answered.arm.run.protocol, answers.schema)
    stood = [rounds.of(signal) for signal in answered.signals[opinions.rounds]]
    table = _padded([answers.codes.all_of(values) for values in stood])
    lengths = np.array([len(values) for values in stood])
    gold = answers.gold[answered.rows]
    for index in range(table.shape[1] - 1):
        kept = lengths > index + 1
        right = [table[kept, column] == gold[kept] for column in (index, index + 1)]
        changes = count_changes(sample, answered.rows[kept], right[0], right[1])
        yield Step(opinions.round, changes, number=index + opinions.round_from)


def _padded(lines: Sequence[Ints]) -> Ints:
    """Lines of different lengths as one table, padded with ``NOTHING``."""
    width = max((len(line) for line in lines), default=0)
    table = np.full((len(lines), width), -1, dtype=np.int64)
    for row, line in enumerate(lines):
        table[row, : len(line)] = line
    return table
