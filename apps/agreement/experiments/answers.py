"""The titles and answers of an experiment's arms, as arrays: one row for each verified item."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
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
from apps.projects.changes import Translator, compared_schema
from apps.projects.models import Project
from labelhub.core.agreement.arms import ArmTally, Codes, count_answers
from labelhub.core.agreement.ratings import Floats, Ints
from labelhub.core.debate import predict, protocol
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
    """All data for a comparison of an experiment, under the names of ``schema``.

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
    labels, versions, translator = compared_schema(arms[0].run.schema)
    tried = Debate.objects.filter(run=arms[0].run).values("item")
    predicting = predicts(arms)
    truths: QuerySet[Any] = verified_items(experiment.project, versions).order_by("item_id")
    if predicting:
        # Of several answers the first counts: the last of these rows.
        truths = author_labels(experiment.project, versions).order_by("item_id", "-pk")
    gold = translator.values_of(truths.filter(item__in=tried))
    codes = Codes(labels.parsed)
    coded = codes.all_of(gold.values())
    place = {item_id: row for row, item_id in enumerate(gold)}
    heard = _read_debates(arms, labels.parsed, translator)
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


def author_labels(project: Project, versions: Collection[int]) -> QuerySet[Label]:
    """The answers of the authors of the project's items under these versions of the labels."""
    return Label.objects.current().filter(
        item__project=project,
        schema__in=versions,
        annotator__kind=Kind.AUTHOR,
        value__isnull=False,
    )


def _number_authors(project: Project, schema: Schema, items: Collection[int]) -> Ints:
    """A number for each item's author, as the examples were chosen."""
    author_of = {answer.item: answer.author for answer in read_answers(project, schema)}
    numbers: dict[str, int] = {}
    named = (author_of.get(item, f"item {item}") for item in items)
    return np.array([numbers.setdefault(name, len(numbers)) for name in named], dtype=np.int64)


def _read_debates(
    arms: Sequence[Arm], schema: Schema, translator: Translator
) -> dict[int, list[list[Any]]]:
    """Run id → lines of item, debate, value and signals; a query for each set of signals."""
    version = arms[0].run.schema.version
    by_signals: dict[tuple[str, ...], list[int]] = {}
    for arm in arms:
        by_signals.setdefault(signals_for(arm.run.protocol), []).append(arm.run.pk)
    heard: dict[int, list[list[Any]]] = {arm.run.pk: [] for arm in arms}
    for names, run_ids in by_signals.items():
        for run_id, *line in ended_debates(run_ids, *names).iterator(5000):
            if translator.touches(version):
                value_of = partial(translator.value, version)
                signals = dict(zip(names, line[3:], strict=True))
                answer = value_of(line[2])
                if answer is None and schema.task.answer_key(schema, line[2]) == frozenset():
                    # A label that no longer exists is a wrong answer, not a missing one.
                    answer = line[2]
                line[2:] = [answer, *_translated(signals, value_of)]
            heard[run_id].append(line)
    return heard


def _translated(
    signals: Mapping[str, Any], value_of: Callable[[Value | None], Value | None]
) -> Iterator[Any]:
    """The signals of a debate with the present names of the labels in them."""
    for name, signal in signals.items():
        match name, signal:
            case "first", _:
                yield value_of(signal)
            case "votes", list():
                yield [(value_of(value), n) for value, n in signal]
            case "verdicts", list():
                yield [value_of(value) for value in signal]
            case "rounds", list():
                yield [
                    {voice: value_of(value) for voice, value in opinions.items()}
                    for opinions in signal
                ]
            case _:
                yield signal


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
