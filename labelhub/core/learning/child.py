"""Learning in a process of its own: JSON lines in, JSON lines out.

``python -m labelhub.core.learning.child``. Reading texts and fitting keep a processor busy for
minutes, in Python for most of it; in a thread of the server every request would wait for it. Memory
goes back to the system with the process. Lines to it, in this order:

* ``{"lesson": {..}, "temperature": null}``: learn and measure; with a temperature only learn;
* ``{"documents": [[text, question, context], ..], "beside": [[1] | null, ..]}``, any number of
  times: ask for the classifier's labels. The process ends with its input.

Lines from it: ``{"step", "share"}`` and ``{"alive": true}`` every few seconds, ``{"learned"}``,
``{"said"}``, or ``{"error": {"code", "message", "data"}}`` as its last one.
"""

import json
import os
import sys
import threading
from contextlib import suppress
from dataclasses import astuple
from typing import Any, TextIO

from labelhub.core.errors import LabelhubError
from labelhub.core.learning.lessons import Document, Lesson
from labelhub.core.learning.training import Model, fit, learn

HEARTBEAT_SECONDS = 2.0
#: The server, which answers people, comes first.
NICE = 10


class LearningProcess:
    """Learns and answers over two streams, with a heartbeat while it works."""

    def __init__(self, source: TextIO, sink: TextIO) -> None:
        self._source, self._sink = source, sink
        self._writing = threading.Lock()
        self._ended = threading.Event()

    def run(self) -> None:
        """Learn, then answer until the input ends."""
        beating = threading.Thread(target=self._beat, daemon=True)
        beating.start()
        try:
            model = self._learn(json.loads(self._source.readline()))
            for line in self._source:
                asked = json.loads(line)
                documents = [Document(*parts) for parts in asked["documents"]]
                items = model.classify(documents, asked["beside"])
                self._tell({"said": [astuple(item) for item in items]})
        except LabelhubError as error:
            reply = {"code": error.code, "message": error.message, "data": error.data}
            self._tell({"error": reply})
        finally:
            self._ended.set()
            beating.join()

    def _learn(self, asked: dict[str, Any]) -> Model:
        lesson = Lesson.from_json(asked["lesson"])
        if asked["temperature"] is not None:
            model = fit(lesson, asked["temperature"])
            self._tell({"learned": None})
            return model
        model, measures, judged = learn(lesson, self._progress)
        self._tell({"learned": {"told": measures, "judged": [astuple(item) for item in judged]}})
        return model

    def _progress(self, step: str, share: float) -> None:
        self._tell({"step": step, "share": share})

    def _tell(self, line: dict[str, Any]) -> None:
        with self._writing:
            self._sink.write(json.dumps(line) + "\n")
            self._sink.flush()

    def _beat(self) -> None:
        while not self._ended.wait(HEARTBEAT_SECONDS):
            try:
                self._tell({"alive": True})
            except OSError:  # the server was killed
                os._exit(1)


def main() -> None:
    """Run the process at low priority on any processor."""
    os.nice(NICE)
    # The server runs on one processor, which it needs for itself.
    with suppress(AttributeError, OSError):  # not on this system; not in this container
        os.sched_setaffinity(0, range(os.cpu_count() or 1))
    LearningProcess(sys.stdin, sys.stdout).run()


if __name__ == "__main__":
    main()
