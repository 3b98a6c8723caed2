"""What the runs of a table found, as arrays: one row for each debate that ended."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db.models.fields.json import KeyTransform

from apps.agreement.papers.setups import Setup
from apps.debates.models import Debate, Run
from apps.debates.selectors.experiments import ENDED, verified_items
from apps.projects.models import LabelSchema
from labelhub.core.agreement.arms import Tally, tally
from labelhub.core.agreement.coding import NOTHING, Codes
from labelhub.core.agreement.resampling import Ints, Resample, resample
from labelhub.core.schema import Schema, Value

#: What tables read of a debate's signals.
SIGNALS: Mapping[str, tuple[str, ...]] = {
    "vote": ("d_rate",),
    "discussion": ("rounds",),
    "courtroom": ("first", "verdicts"),
}


@dataclass(frozen=True, slots=True)
class Said:
    """A run's answers: ``rows`` are the items' places, ``said`` the answers as numbers.

    ``replicates``: which pass each is of, from 1; ``told``: each signal that was read, a list
    beside them; ``failed``: debates that no endpoint answered, which count nowhere.
    """

    run_id: int
    rows: Ints
    replicates: Ints
    said: Ints
    told: Mapping[str, Sequence[Any]]
    failed: int
    counts: Tally

    @property
    def unparsed(self) -> int:
        """Passes without a usable answer."""
        return int((self.said == NOTHING).sum())


@dataclass(frozen=True, slots=True)
class Answers:
    """All that a table needs of one file. ``by_setup``: a run's answers by its set-up's key."""

    title: str
    schema: Schema
    codes: Codes
    gold: Ints
    sample: Resample
    by_setup: Mapping[str, Said]

    def of(self, setup: Setup) -> Said:
        """The answers of a set-up that the table asked for."""
        return self.by_setup[setup.key]

    @property
    def items(self) -> int:
        """How many items have gold."""
        return len(self.gold)


def answers_of(
    title: str, labels: LabelSchema, item_ids: Sequence[int], runs: Mapping[str, tuple[Run, int]]
) -> Answers:
    """Read them.

    Args:
        title: what the file is called.
        labels: the schema under which its gold stands.
        item_ids: the items.
        runs: by key of the set-up, with how many passes of each item count.
    """
    wanted = set(item_ids)
    decided = verified_items(labels.project, labels).order_by("item_id")
    gold = {pk: value for pk, value in decided.values_list("item_id", "value") if pk in wanted}
    codes = Codes(labels.parsed)
    coded = codes.all_of(gold.values())
    place = {pk: row for row, pk in enumerate(gold)}
    read = {key: _lines(run, place, passes) for key, (run, passes) in runs.items()}
    # All answers are numbered before any is counted: one table of labels then fits all.
    numbered = {key: codes.all_of(line[2] for line in lines) for key, lines in read.items()}
    told = {
        key: _said(runs[key][0], lines, (codes, coded, numbered[key]), _failed(*runs[key], place))
        for key, lines in read.items()
    }
    return Answers(title, labels.parsed, codes, coded, resample(len(gold)), told)


def _lines(run: Run, place: Mapping[int, int], passes: int) -> list[tuple[Any, ...]]:
    """Item's place, replicate, value, then each signal."""
    names = SIGNALS.get(run.protocol, ())
    told = {f"told_{name}": KeyTransform(name, "signals") for name in names}
    ended = Debate.objects.filter(run=run, status__in=ENDED, replicate__lte=passes).annotate(**told)
    found = ended.order_by("pk").values_list("item", "replicate", "value", *told)
    return [(place[pk], *line) for pk, *line in found.iterator(5000) if pk in place]


def _failed(run: Run, passes: int, place: Mapping[int, int]) -> int:
    """How many debates about these items no endpoint answered."""
    failed = run.debates.filter(status=Debate.Status.FAILED, replicate__lte=passes)
    return sum(pk in place for pk in failed.values_list("item", flat=True))


def _said(
    run: Run, lines: Sequence[tuple[Any, ...]], coded: tuple[Codes, Ints, Ints], failed: int
) -> Said:
    codes, gold, said = coded
    rows = np.fromiter((line[0] for line in lines), dtype=np.int64)
    return Said(
        run_id=run.pk,
        rows=rows,
        replicates=np.fromiter((line[1] for line in lines), dtype=np.int64),
        said=said,
        told={
            name: [line[3 + at] for line in lines]
            for at, name in enumerate(SIGNALS.get(run.protocol, ()))
        },
        failed=failed,
        counts=tally(codes, gold, rows, said),
    )


def letters_of(said: Said) -> list[str]:
    """Who sat at the table of a discussion."""
    return list(dict.fromkeys(letter for told in said.told["rounds"] for letter in told[0]))


def standing(said: Said, codes: Codes, letter: str, number: int) -> Ints:
    """What an annotator stood by after round ``number``, debate by debate: who has agreed earlier
    stands by what was said then."""
    return codes.all_of(_at(told, number).get(letter) for told in said.told["rounds"])


def ballots(said: Said, number: int) -> Iterator[list[Value | None]]:
    """What everybody stood by after round ``number``, debate by debate."""
    return (list(_at(told, number).values()) for told in said.told["rounds"])


def rounds_held(said: Said) -> Ints:
    """How many rounds of discussion each debate had; 0 where all agreed at once."""
    return np.array([len(told) - 1 for told in said.told["rounds"]], dtype=np.int64)


def _at(told: Sequence[Mapping[str, Value | None]], number: int) -> Mapping[str, Value | None]:
    return told[min(number, len(told) - 1)]
