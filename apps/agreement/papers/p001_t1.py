"""Paper 001, table 1: what inference-time techniques do to each model's accuracy."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from apps.agreement.papers.answers import Answers
from apps.agreement.papers.asked import Asked, bare_models
from apps.agreement.papers.counting import (
    Compared,
    accuracy,
    compared,
    drawn_accuracy,
    mean_of,
    tests_of,
)
from apps.agreement.papers.kinds import PaperTable, faults
from apps.agreement.papers.layout import POINTS, Cell, Shown, Table, with_best
from apps.agreement.papers.setups import Setup, by_one
from apps.llm.models import ModelSpec
from labelhub.core.agreement.figures import Figure, figure
from labelhub.core.agreement.multiplicity import holm
from labelhub.core.agreement.significance import LEVEL
from labelhub.core.schema import Task

#: Protocol → how the paper calls it; the first is the baseline, called by the model's name.
METHODS = {
    "single": "",
    "cot": "w/ CoT",
    "self_refine": "w/ self-refine",
    "self_consistency": "w/ self-consistency",
}
Place = tuple[int, str, int]  # model, method, file


def setups(asked: Asked) -> list[Setup]:
    """Every method by every model."""
    return [by_one(name, model) for model in bare_models(asked) for name in METHODS]


def rows(asked: Asked, files: Sequence[Answers]) -> Table:
    """A row for each model and method, a column for each file."""
    work = _Work(bare_models(asked), files)
    against = work.against()
    adjusted = dict(zip(against, holm([each.p for each in against.values()]), strict=True))
    average = ["Avg."] if len(files) > 1 else []
    marks = sum(p < LEVEL for p in adjusted.values())
    notes = [
        "Percent right; in parentheses the change from the model's plain answer (vanilla).",
        (
            f"* differs from vanilla: {tests_of(against.values())}, p < {LEVEL} after Holm's "
            f"correction for the {len(adjusted)} comparisons of this table ({marks} do). The paper "
            "tests none here."
        ),
        *faults(files),
    ]
    columns = ["Model / Method", *(answers.title for answers in files), *average]
    return with_best(Table(columns, work.rows(adjusted), notes), columns)


@dataclass(frozen=True, slots=True)
class _Work:
    models: Sequence[ModelSpec]
    files: Sequence[Answers]

    def rows(self, adjusted: Mapping[Place, float]) -> list[list[Cell]]:
        return [
            self._row(model, name, adjusted)
            for model in range(len(self.models))
            for name in METHODS
        ]

    def against(self) -> dict[Place, Compared]:
        """Each comparison with vanilla."""
        return {
            (model, name, at): self._against(model, name, at)
            for model in range(len(self.models))
            for name in list(METHODS)[1:]
            for at in range(len(self.files))
        }

    def _row(self, model: int, name: str, adjusted: Mapping[Place, float]) -> list[Cell]:
        cells: list[Cell] = [METHODS[name] or self.models[model].name]
        cells += [self._cell((model, name, at), adjusted) for at in range(len(self.files))]
        return cells + ([self._average(model, name)] if len(self.files) > 1 else [])

    def _cell(self, place: Place, adjusted: Mapping[Place, float]) -> Shown:
        model, name, at = place
        answers = self.files[at]
        counts = answers.of(by_one(name, self.models[model])).counts
        found = accuracy(answers.sample, counts)
        if not METHODS[name]:
            return Shown(found, POINTS)
        against, p_holm = self._against(model, name, at), adjusted[place]
        told = against.told | {"p_holm": p_holm}
        mark = "*" if p_holm < LEVEL else ""
        return Shown(found, POINTS, mark=mark, change=against.difference, more=told)

    def _average(self, model: int, name: str) -> Shown:
        found = self._mean(model, name)
        if not METHODS[name]:
            return Shown(found, POINTS)
        return Shown(found, POINTS, change=_difference(found, self._mean(model, "single")))

    def _mean(self, model: int, name: str) -> Figure:
        setup = by_one(name, self.models[model])
        told = [(answers.sample, answers.of(setup).counts) for answers in self.files]
        return mean_of(
            [accuracy(sample, counts) for sample, counts in told],
            [drawn_accuracy(sample, counts) for sample, counts in told],
        )

    def _against(self, model: int, name: str, at: int) -> Compared:
        answers = self.files[at]
        one, base = (answers.of(by_one(each, self.models[model])) for each in (name, "single"))
        return compared(answers.sample, one.counts, base.counts)


def _difference(one: Figure, base: Figure) -> Figure | None:
    """Of two means; their intervals stand beside it."""
    if one["value"] is None or base["value"] is None:
        return None
    nothing = float("nan")
    value = one["value"] - base["value"]
    return figure(value, low=nothing, high=nothing, n=one["n"], method="difference of two means")


TABLE = PaperTable(
    code="001.T1",
    title="Accuracy of instruction-tuned LLMs on expert annotation tasks",
    setups=setups,
    rows=rows,
    tasks=tuple(task for task in Task if task is not Task.TEXT),
)
