"""The process that learns, from the side of its parent."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, Protocol, Self

from django.conf import settings

from labelhub.core.errors import InvalidInput, LabelhubError
from labelhub.core.learning import Document, Lesson

#: Called with the current step and its progress; None for a mere sign of life.
Progress = Callable[[str | None, float], None]
Beside = Sequence[Sequence[int] | None]
#: A longer process is taken for hung.
LONGEST_SECONDS = 3 * 60 * 60.0
_LAST_WORDS = 2000


class LearnerDied(LabelhubError):
    """The process that learns has ended by itself."""

    code = "learner_died"
    retryable = True


class LearnerRefused(InvalidInput):
    """It cannot learn this; the message says why."""

    code = "not_learnable"


class Prediction(NamedTuple):
    """The model's answer to an item; ``beside``: the probability it gives to the suggestion."""

    labels: list[int]
    probability: float
    margin: float
    beside: float | None


class Judgement(NamedTuple):
    """The model's answer to an item of gold whose label it had not seen."""

    labels: list[int]
    probability: float
    margin: float
    gold: float
    suspicion: float | None


class Learner(Protocol):
    """What a training needs. Leaving its block closes it."""

    def learn(
        self, lesson: Lesson, progress: Progress
    ) -> tuple[dict[str, Any], Sequence[Judgement]]:
        """Learn and measure: quality and curve, and each item of gold judged."""

    def fit(self, lesson: Lesson, temperature: float, progress: Progress) -> None:
        """Only learn."""

    def say(
        self, documents: Sequence[Document], beside: Beside, progress: Progress
    ) -> list[Prediction]:
        """Its answer to each document."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *error: object) -> None: ...


class ChildLearner:
    """``labelhub.core.learning.child`` in a process of its own, without our secrets."""

    def __init__(self) -> None:
        # Closed with the process; a pipe would fill up and stop it.
        self._errors = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
        keep = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "labelhub.core.learning.child"],
            cwd=settings.BASE_DIR,
            env={**keep, "PYTHONIOENCODING": "utf-8", "OMP_NUM_THREADS": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            encoding="utf-8",
        )
        self._until = time.monotonic() + LONGEST_SECONDS

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Kill the process: it holds nothing that is not in the database."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._errors):
            if stream is not None:
                with suppress(OSError):  # what could not be written any more
                    stream.close()

    def learn(
        self, lesson: Lesson, progress: Progress
    ) -> tuple[dict[str, Any], Sequence[Judgement]]:
        self._ask({"lesson": lesson.to_json(), "temperature": None})
        learned = self._answer("learned", progress)
        return learned["told"], [Judgement(*row) for row in learned["judged"]]

    def fit(self, lesson: Lesson, temperature: float, progress: Progress) -> None:
        self._ask({"lesson": lesson.to_json(), "temperature": temperature})
        self._answer("learned", progress)

    def say(
        self, documents: Sequence[Document], beside: Beside, progress: Progress
    ) -> list[Prediction]:
        rows = [[document.text, document.question, document.context] for document in documents]
        self._ask({"documents": rows, "beside": list(beside)})
        return [Prediction(*answer) for answer in self._answer("said", progress)]

    def _ask(self, line: dict[str, Any]) -> None:
        if self._process.stdin is None:
            raise self._dead()
        try:
            self._process.stdin.write(json.dumps(line) + "\n")
            self._process.stdin.flush()
        except OSError as error:
            raise self._dead() from error

    def _answer(self, wanted: str, progress: Progress) -> Any:
        """The line with the answer; the lines before it report progress.

        Raises:
            LearnerRefused: it cannot learn this.
            LearnerDied: it has ended, or takes too long.
        """
        for raw in self._process.stdout or ():
            line = json.loads(raw)
            if wanted in line:
                return line[wanted]
            if "error" in line:
                raise LearnerRefused(line["error"]["message"], data=line["error"]["data"])
            progress(line.get("step"), line.get("share", 0.0))
            if time.monotonic() > self._until:
                break
        raise self._dead()

    def _dead(self) -> LearnerDied:
        self._errors.seek(0)
        words = self._errors.read()[-_LAST_WORDS:]
        return LearnerDied("The process that learns has ended by itself.", data={"stderr": words})
