"""Learning from gold: folds, fitting, suspected gold labels, and a classifier with its quality."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from labelhub.core.learning.classifier import (
    MOST_TERMS,
    Classifier,
    Features,
    Floats,
    Marks,
    Matrix,
    choose_labels,
    classifier_for,
    marks_of,
    probability_of,
)
from labelhub.core.learning.lessons import (
    LEAST_SIMULATED,
    Document,
    Lesson,
    Shape,
    check_enough,
    normalise_document,
    text_groups,
)
from labelhub.core.learning.quality import (
    calibration_error,
    compare_predictions,
    fit_temperature,
    majority_baseline,
    mean_steps_off,
    scores,
)
from labelhub.core.learning.simulation import simulate

FOLDS = 5


def fold_of(
    marks: Marks, groups: Sequence[int], *, folds: int = FOLDS, seed: int = 0
) -> NDArray[np.intp]:
    """The fold, from 0, of each example; the same for the same ``seed``.

    Examples with the same labels are dealt out in turn, in random order, and each kind goes on
    where the last one ended; those of one group go where its first one goes.
    """
    rng = np.random.default_rng(seed)
    first: dict[int, int] = {}
    for example, group in enumerate(groups):
        first.setdefault(group, example)
    order = rng.permutation(len(first))
    leaders = np.array(list(first.values()), np.intp)[order]
    alike = sorted(leaders.tolist(), key=lambda example: marks[example].tobytes())
    dealt = {groups[example]: turn % folds for turn, example in enumerate(alike)}
    return np.array([dealt[group] for group in groups], np.intp)


def split_folds(of: NDArray[np.intp]) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """(training examples, held-out examples) of each fold that is not empty."""
    for fold in np.unique(of):
        yield np.flatnonzero(of != fold), np.flatnonzero(of == fold)


#: Enough for any label, however sure the classifier is of its other items.
SURE = 0.9


class Suspicion(NamedTuple):
    """Of each item: the lead of the likelier label over gold's, 0 to 1 (NaN: not suspected),
    and the labels instead of gold's."""

    ahead: Floats
    instead: Marks


def suspect_gold(shape: Shape, probabilities: Floats, gold: Marks) -> Suspicion:
    """Gold labels that are probably wrong; of several labels each is judged by itself.

    Confident learning (Northcutt, Jiang and Chuang 2021, "Confident Learning: Estimating
    Uncertainty in Dataset Labels"). The mean probability of a label among the items that have it is
    the label's threshold. Gold is suspected where an item reaches the threshold of another label,
    and that label is likelier than gold's. Thresholds differ by label, so a label of which the
    classifier is never sure suspects and is suspected on its own terms. One addition: where the
    classifier is so sure that few items reach the mean, nine in ten is enough.

    Args:
        shape: the shape of an answer.
        probabilities: items x labels, out of fold.
        gold: items x labels.
    """
    if shape is Shape.MULTI:
        return _suspect_multi(probabilities, gold)
    return _suspect_single(probabilities, gold)


def thresholds(probabilities: Floats, gold: Marks) -> Floats:
    """The mean probability of each label among the items that have it; infinite without any."""
    n = gold.sum(axis=0)
    total = (probabilities * gold).sum(axis=0)
    means: Floats = np.divide(total, n, out=np.full(n.shape, np.inf), where=n > 0)
    return means


def _suspect_single(probabilities: Floats, gold: Marks) -> Suspicion:
    as_own = (probabilities >= np.minimum(thresholds(probabilities, gold), SURE)) & ~gold
    rivals = np.where(as_own, probabilities, -1.0)
    rival = rivals.argmax(axis=1)
    ahead = rivals.max(axis=1) - (probabilities * gold).sum(axis=1)
    suspected = as_own.any(axis=1) & (ahead > 0)
    instead = gold.copy()
    instead[suspected] = False
    instead[suspected, rival[suspected]] = True
    return Suspicion(np.where(suspected, ahead, np.nan), instead)


def _suspect_multi(probabilities: Floats, gold: Marks) -> Suspicion:
    ahead = np.full(gold.shape, np.nan)
    for column in range(gold.shape[1]):
        pair = np.column_stack([1 - probabilities[:, column], probabilities[:, column]])
        ahead[:, column] = _suspect_single(
            pair, np.column_stack([~gold[:, column], gold[:, column]])
        ).ahead
    flipped = ~np.isnan(ahead)
    worst = np.where(flipped, ahead, -1.0).max(axis=1)
    return Suspicion(np.where(flipped.any(axis=1), worst, np.nan), gold ^ flipped)


#: Called with the current step and the share that is done.
Progress = Callable[[str, float], None]

#: With many labels fewer terms: time goes by their product.
MOST_WEIGHTS = 600_000
SIMULATED_WEIGHTS = 300_000
LEAST_TERMS = 2_000


@dataclass(frozen=True, slots=True)
class ClassifiedItem:
    """The classifier's labels of one item as numbers, their probability, their lead over the next
    likely ones, and the probability of the labels that somebody else gave."""

    labels: list[int]
    probability: float
    margin: float
    beside: float | None


@dataclass(frozen=True, slots=True)
class JudgedItem:
    """The same of one item of gold, out of fold; ``suspicion`` where gold is probably wrong, and
    then ``labels`` are the labels instead."""

    labels: list[int]
    probability: float
    margin: float
    gold: float
    suspicion: float | None


@dataclass(frozen=True, slots=True)
class Model:
    """A fitted classifier."""

    shape: Shape
    names: Sequence[str]
    features: Features
    head: Classifier
    temperature: float

    def classify(
        self, documents: Sequence[Document], beside: Sequence[Sequence[int] | None]
    ) -> list[ClassifiedItem]:
        """Classify each document, and judge how likely the labels in ``beside`` are."""
        if not documents:
            return []
        rows = self.features.transform([normalise_document(document) for document in documents])
        likely = self.head.probabilities(self.head.scores(rows), self.temperature)
        marks = choose_labels(self.shape, likely)
        sure = probability_of(self.shape, likely, marks)
        ahead = margins(self.shape, likely)
        theirs = marks_of([labels or () for labels in beside], len(self.names))
        others = probability_of(self.shape, likely, theirs)
        return [
            ClassifiedItem(
                labels=np.flatnonzero(marks[row]).tolist(),
                probability=float(sure[row]),
                margin=float(ahead[row]),
                beside=None if labels is None else float(others[row]),
            )
            for row, labels in enumerate(beside)
        ]


def margins(shape: Shape, probabilities: Floats) -> Floats:
    """The lead of the likeliest answer over the next; of several labels, that of the closest."""
    if shape is Shape.MULTI:
        return np.asarray(np.abs(2 * probabilities - 1).min(axis=1))
    top = np.sort(probabilities, axis=1)[:, -2:]
    return np.asarray(top[:, 1] - top[:, 0])


def fit(lesson: Lesson, temperature: float) -> Model:
    """A classifier that has learnt all of ``lesson``; the same for the same lesson.

    Raises:
        TooLittleGold: see ``check_enough``.
        NothingToRead: the texts have no words.
    """
    rows, marks, features = _prepare(lesson)
    head = classifier_for(lesson.shape).fit(rows, marks)
    return Model(lesson.shape, lesson.names, features, head, temperature)


def learn(lesson: Lesson, progress: Progress) -> tuple[Model, dict[str, Any], list[JudgedItem]]:
    """A fitted classifier, its measures, and each item of gold judged out of fold.

    The measures are ``quality`` and ``curve`` (see ``simulation``), JSON-ready.

    Raises:
        TooLittleGold: see ``check_enough``.
        NothingToRead: the texts have no words.
    """
    progress("Reading the texts", 0.0)
    rows, marks, features = _prepare(lesson)
    same = text_groups([normalise_document(document) for document in lesson.documents])
    head, raw = _out_of_fold(lesson, rows, marks, same, progress)
    temperature = fit_temperature(head, lesson.shape, raw, marks)
    likely = head.probabilities(raw, temperature)
    model = Model(
        lesson.shape,
        lesson.names,
        features,
        classifier_for(lesson.shape).fit(rows, marks),
        temperature,
    )
    progress("Measuring", 0.35)
    measures = {
        "quality": {
            **_quality(lesson, marks, likely),
            "temperature": temperature,
            "calibration_error": calibration_error(lesson.shape, likely, marks),
            "calibration_error_before": calibration_error(
                lesson.shape, head.probabilities(raw, 1.0), marks
            ),
        },
        "curve": _simulated(lesson, marks, same, progress),
    }
    return model, measures, _judge(lesson.shape, likely, marks)


def _prepare(lesson: Lesson) -> tuple[Matrix, Marks, Features]:
    check_enough(lesson.shape, lesson.names, lesson.targets)
    documents = [normalise_document(document) for document in lesson.documents]
    features = Features(_most_terms(lesson, MOST_WEIGHTS, MOST_TERMS)).fit(documents)
    return features.transform(documents), marks_of(lesson.targets, len(lesson.names)), features


def _most_terms(lesson: Lesson, weights: int, most: int) -> int:
    return max(LEAST_TERMS, min(most, weights // len(lesson.names)))


def _out_of_fold(
    lesson: Lesson, rows: Matrix, marks: Marks, same: Sequence[int], progress: Progress
) -> tuple[Classifier, Floats]:
    """Scores of each item by a classifier that has seen neither its label nor another item of the
    same text. Terms are counted over all texts: that needs no label."""
    found: Floats | None = None
    head = classifier_for(lesson.shape)
    folds = list(split_folds(fold_of(marks, same, seed=lesson.seed)))
    for done, (learnt, kept) in enumerate(folds):
        progress("Cross-validating", 0.05 + 0.3 * done / len(folds))
        head = classifier_for(lesson.shape).fit(rows[learnt], marks[learnt])
        part = head.scores(rows[kept])
        if found is None:
            found = np.zeros((len(marks), part.shape[1]))
        found[kept] = part
    if found is None:
        raise ValueError("a lesson without documents")
    return head, found


def _quality(lesson: Lesson, marks: Marks, likely: Floats) -> dict[str, Any]:
    predicted = choose_labels(lesson.shape, likely)
    names, seed = lesson.names, lesson.seed
    llm: dict[str, Any] = {"n": 0}
    if lesson.beside:
        answered = np.array([[labels is not None] for labels in lesson.beside])
        theirs = marks_of([labels or () for labels in lesson.beside], len(names))
        llm = compare_predictions(names, marks, predicted, (answered, theirs), seed=seed)
    guessed = scores(names, marks, majority_baseline(marks), seed=seed)
    return {
        "n": len(marks),
        **scores(names, marks, predicted, seed=seed),
        "steps_off": mean_steps_off(lesson.shape, marks, predicted),
        "majority": {key: guessed[key] for key in ("accuracy", "macro_f1")},
        "llm": llm,
    }


def _simulated(
    lesson: Lesson, marks: Marks, same: Sequence[int], progress: Progress
) -> dict[str, Any]:
    first = np.unique(np.array(same), return_index=True)[1]
    if len(first) < LEAST_SIMULATED:
        needed = f"{LEAST_SIMULATED} different texts with gold"
        return {"reason": f"it needs {needed}; there are {len(first)}"}
    documents = [normalise_document(lesson.documents[place]) for place in first]
    terms = _most_terms(lesson, SIMULATED_WEIGHTS, MOST_TERMS // 2)
    rows = Features(terms).fit(documents).transform(documents)

    def report_share(share: float) -> None:
        progress("Simulating what its order saves", 0.4 + 0.6 * share)

    return simulate(lesson.shape, rows, marks[first], report_share, seed=lesson.seed)


def _judge(shape: Shape, likely: Floats, marks: Marks) -> list[JudgedItem]:
    ahead, instead = suspect_gold(shape, likely, marks)
    shown = np.where(np.isnan(ahead)[:, None], choose_labels(shape, likely), instead)
    sure, gold = probability_of(shape, likely, shown), probability_of(shape, likely, marks)
    gaps = margins(shape, likely)
    return [
        JudgedItem(
            labels=np.flatnonzero(shown[row]).tolist(),
            probability=float(sure[row]),
            margin=float(gaps[row]),
            gold=float(gold[row]),
            suspicion=None if np.isnan(ahead[row]) else float(ahead[row]),
        )
        for row in range(len(marks))
    ]
