"""The lines that a server would print."""

import io
import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from labelhub.observe.log_lines import formatter

#: With the levels of production.
LEVELS = {"labelhub.access": logging.INFO, "labelhub.security": logging.INFO}


class Lines:
    """What was printed since."""

    def __init__(self, stream: io.StringIO) -> None:
        self._stream = stream

    @property
    def text(self) -> str:
        return self._stream.getvalue()

    def json(self, logger: str = "", event: str = "") -> list[dict[str, Any]]:
        """The lines of a logger, or with an event."""
        found = [json.loads(line) for line in self.text.splitlines()]
        return [
            line
            for line in found
            if logger in ("", line["logger"]) and event in ("", line["event"])
        ]


@contextmanager
def printed_lines(form: str = "json") -> Iterator[Lines]:
    """Collect what is logged meanwhile."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(formatter(form))
    root = logging.getLogger()
    before = {name: logging.getLogger(name).level for name in LEVELS}
    root.addHandler(handler)
    for name, level in LEVELS.items():
        logging.getLogger(name).setLevel(level)
    try:
        yield Lines(stream)
    finally:
        root.removeHandler(handler)
        for name, level in before.items():
            logging.getLogger(name).setLevel(level)
