"""The learner without its process: the same work, in the test's own."""

from collections.abc import Sequence
from dataclasses import astuple
from typing import Any, Self

from apps.learning.learner import Beside, Judgement, LearnerDied, Prediction, Progress
from labelhub.core.learning import Document, Lesson
from labelhub.core.learning.training import Model, fit, learn


class NearLearner:
    """Learns here; ``dies_after`` as many answers, as a process that is killed."""

    def __init__(self, dies_after: int | None = None) -> None:
        self._left = dies_after
        self._model: Model | None = None
        self.asked: list[str] = []

    def __call__(self) -> Self:
        """Stands for the opening of a process."""
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._left = None

    def learn(
        self, lesson: Lesson, progress: Progress
    ) -> tuple[dict[str, Any], Sequence[Judgement]]:
        """See ``Learner``."""
        self._count("learn")
        self._model, learned, judged = learn(lesson, progress)
        return learned, [Judgement(*astuple(judgement)) for judgement in judged]

    def fit(self, lesson: Lesson, temperature: float, progress: Progress) -> None:
        """See ``Learner``."""
        self._count("fit")
        self._model = fit(lesson, temperature)

    def say(
        self, documents: Sequence[Document], beside: Beside, progress: Progress
    ) -> list[Prediction]:
        """See ``Learner``."""
        self._count("say")
        progress(None, 0.0)
        assert self._model is not None
        return [Prediction(*astuple(saying)) for saying in self._model.classify(documents, beside)]

    def _count(self, what: str) -> None:
        self.asked.append(what)
        if self._left == 0:
            raise LearnerDied("The process that learns has ended by itself.")
        if self._left is not None:
            self._left -= 1
