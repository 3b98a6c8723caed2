"""The titles and answers of an experiment's arms, as arrays: one row for each verified item."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from string import ascii_uppercase
from typing import Any

import numpy as np
from django.db.models import QuerySet
from django.utils.translation import get_language, gettext

from apps.common.figures import localise
from apps.debates.models import Debate, Experiment, Run, RunRole
from apps.debates.naming import setting_words
from apps.debates.selectors.experiments import Arm, ended_debates, turn_sums, verified_items
from apps.debates.services.author_examples import read_answers
from apps.debates.services.experiments import setup_key, vote_for
from apps.labels.models import Kind, Label
from apps.projects.changes import comparable_versions
from apps.projects.models import LabelSchema, Project
from labelhub.core.agreement.arms import ArmTally, Codes, count_answers
from labelhub.core.agreement.ratings import Floats, Ints
from labelhub.core.debate import predict, protocol
from labelhub.core.debate.ballots import tally as tally_ballots
from labelhub.core.schema import LabelType, Schema, Value


def letter_of(place: int) -> str:
    """A, B, C … for the arms of an experiment in their order."""
    return ascii_uppercase[place % 26]


def title_of(name: str, settings: Mapping[str, Any]) -> str:
    """``Discussion``, or ``Self-consistency (3 samples)`` if settings differ from the defaults."""
    info = protocol(name)
    title, shown = gettext(info.title), []
    for setting in info.known_settings(settings):
        words, value = _within(gettext(setting.title)), settings.get(setting.name, setting.default)
        worded = _within(setting_words(value)) if isinstance(value, str) else localise(str(value))
        if setting.titled:
            shown.append(f"{worded} {words}")
        elif value != setting.default:
            shown.append(f"{words}: {worded}")
    return f"{title} ({', '.join(shown)})" if shown else title


def _within(words: str) -> str:
    """Within a sentence: small at its start, except in German, whose nouns have a capital."""
    return words if get_language() == "de" else words[:1].lower() + words[1:]


def models_of(roles: Sequence[RunRole]) -> str:
    return " + ".join(dict.fromkeys(role.model.title for role in roles))


def votes_for(
    arms: Sequence[tuple[Run, Sequence[RunRole]]], task: LabelType
) -> dict[int, list[int]]:
    """Run id of a vote → run ids of the debates whose budget it equals."""
    models = {run.pk: {role.role: role.model for role in roles} for run, roles in arms}
    by_key = {
        setup_key(run.protocol, run.protocol_settings, models[run.pk]): run.pk for run, _ in arms
    }
    found: dict[int, list[int]] = {}
    for run, _ in arms:
        vote = vote_for(run.protocol, run.protocol_settings, models[run.pk], task)
        same = by_key.get(setup_key(*vote)) if vote else None
        if same is not None:
            found.setdefault(same, []).append(run.pk)
    return found


def signals_for(name: str) -> tuple[str, ...]:
    """The signals that a report reads of debates by the protocol ``name``."""
    opinions = protocol(name).opinions
    if opinions is None:
        return ()
    votes = ("votes", "d_rate") if opinions.voters else ()
    rounds = (opinions.rounds,) if opinions.rounds else ()
    return ("first", *votes, *opinions.signals, *rounds)


@dataclass(slots=True)
class Rounds:
    """The opinion after each round of a debate: the majority of a discussion, a judge's verdict.

    Thousands of rounds end in few ways: each way is counted only once.
    """

    protocol: str
    schema: Schema
    known: dict[str, Value | None] = field(default_factory=dict)

    def of(self, rounds: Any) -> Sequence[Value | None]:
        """Of one debate; ``rounds`` is the signal that its ``Opinions.rounds`` names."""
        if not isinstance(rounds, list):
            return []
        if self.protocol == "courtroom":
            return rounds
        return [self._majority(list(opinions.values())) for opinions in rounds if opinions]

    def _majority(self, voices: list[Value | None]) -> Value | None:
        if all(voice == voices[0] for voice in voices):
            return voices[0]
        key = repr(voices)
        if key not in self.known:
            self.known[key] = tally_ballots(voices, self.schema).value
        return self.known[key]


def first_opinions(rounds: Any) -> list[Value | None]:
    """The opinions before anybody heard the others: the first of a discussion's ``rounds``."""
    return list(rounds[0].values()) if isinstance(rounds, list) and rounds else []


@dataclass(frozen=True, slots=True)
class Spent:
    """Sums by item, shape (items,): calls, nano-USD, seconds. ``priced``: every price is known."""

    calls: Ints
    cost: Floats
    seconds: Floats
    priced: bool


@dataclass(frozen=True, slots=True)
class ArmAnswers:
    """An arm's ended debates about verified items.

    ``rows``: the item of each debate. ``predicted``: its coded answer. ``values``: its answer.
    ``signals``: signal → its value in each debate.
    """

    arm: Arm
    debates: Sequence[int]
    rows: Ints
    predicted: Ints
    values: Sequence[Any]
    signals: Mapping[str, Sequence[Any]]
    counts: ArmTally
    spent: Spent


@dataclass(frozen=True, slots=True)
class Answers:
    """All data for a comparison of an experiment.

    ``decided`` is the verified label of each item; where an arm predicts authors, what the author
    answered, and ``authors``, shape (items,), tells whose items they are.
    """

    schema: Schema
    codes: Codes
    items: Sequence[int]
    decided: Sequence[Any]
    gold: Ints
    authors: Ints | None
    arms: Sequence[ArmAnswers]


def answers_of(experiment: Experiment, arms: Sequence[Arm]) -> Answers:
    """Read them; the number of queries does not depend on the number of arms."""
    labels = arms[0].run.schema
    tried = Debate.objects.filter(run=arms[0].run).values("item")
    predicting = predicts(arms)
    if predicting:
        own = author_labels(experiment.project, labels).filter(item__in=tried)
        # Of several answers the first counts: the last of these rows.
        gold = dict(own.order_by("item_id", "-pk").values_list("item_id", "value"))
    else:
        decided = verified_items(experiment.project, labels).filter(item__in=tried)
        gold = dict(decided.order_by("item_id").values_list("item_id", "value"))
    codes = Codes(labels.parsed)
    coded = codes.all_of(gold.values())
    place = {item_id: row for row, item_id in enumerate(gold)}
    heard = _read_debates(arms)
    spent = _read_spending(arms, place)
    found = []
    for arm in arms:
        # Items whose gold is gone are left out.
        lines = [line for line in heard[arm.run.pk] if line[0] in place]
        names = signals_for(arm.run.protocol)
        columns: list[Sequence[Any]] = list(zip(*lines, strict=True)) or [()] * (3 + len(names))
        rows = np.fromiter((place[item_id] for item_id in columns[0]), dtype=np.int64)
        answered = codes.all_of(columns[2])
        found.append(
            ArmAnswers(
                arm=arm,
                debates=columns[1],
                rows=rows,
                predicted=answered,
                values=columns[2],
                signals=dict(zip(names, columns[3:], strict=True)),
                counts=count_answers(codes, coded, rows, answered),
                spent=spent[arm.run.pk],
            )
        )
    return Answers(
        schema=labels.parsed,
        codes=codes,
        items=list(gold),
        decided=list(gold.values()),
        gold=coded,
        authors=_number_authors(experiment.project, labels.parsed, gold) if predicting else None,
        arms=found,
    )


def predicts(arms: Sequence[Arm]) -> bool:
    return any(arm.run.protocol == predict.NAME for arm in arms)


def author_labels(project: Project, schema: LabelSchema) -> QuerySet[Label]:
    """The answers of the authors of the project's items under these labels."""
    return Label.objects.current().filter(
        item__project=project,
        schema__in=comparable_versions(schema),
        annotator__kind=Kind.AUTHOR,
        value__isnull=False,
    )


def _number_authors(project: Project, schema: Schema, items: Collection[int]) -> Ints:
    """A number for each item's author, as the examples were chosen."""
    author_of = {answer.item: answer.author for answer in read_answers(project, schema)}
    numbers: dict[str, int] = {}
    named = (author_of.get(item, f"item {item}") for item in items)
    return np.array([numbers.setdefault(name, len(numbers)) for name in named], dtype=np.int64)


def _read_debates(arms: Sequence[Arm]) -> dict[int, list[list[Any]]]:
    """Run id → lines of item, debate, value and signals; a query for each set of signals."""
    by_signals: dict[tuple[str, ...], list[int]] = {}
    for arm in arms:
        by_signals.setdefault(signals_for(arm.run.protocol), []).append(arm.run.pk)
    heard: dict[int, list[list[Any]]] = {arm.run.pk: [] for arm in arms}
    for names, run_ids in by_signals.items():
        for run_id, *line in ended_debates(run_ids, *names).iterator(5000):
            heard[run_id].append(line)
    return heard


def _read_spending(arms: Sequence[Arm], place: Mapping[int, int]) -> dict[int, Spent]:
    """Run id → the spending of its debates about verified items."""
    size = len(place)
    sums = {arm.run.pk: np.zeros((4, size)) for arm in arms}
    for run_id, item_id, calls, cost, seconds, unpriced in turn_sums(sums).iterator(5000):
        if item_id in place:
            sums[run_id][:, place[item_id]] = calls, cost or 0, seconds or 0, unpriced
    return {
        run_id: Spent(
            calls=table[0].astype(np.int64),
            cost=table[1],
            seconds=table[2],
            priced=not table[3].any(),
        )
        for run_id, table in sums.items()
    }
