"""Exports while they arrive: from pieces to lines to rows, no more than a line in memory."""

import json
from typing import Any

from labelhub.client.errors import AnswerLost, Problem, UnexpectedAnswer, WrongUse

MOST_OF_A_LINE = 256 * 1024 * 1024


class Lines:
    """Cuts pieces at line feeds alone: texts hold other line ends that JSON leaves as they are."""

    def __init__(self) -> None:
        self._rest: list[bytes] = []
        self._size = 0

    def feed(self, piece: bytes) -> list[dict[str, Any]]:
        """The rows that are complete with this piece.

        Raises:
            UnexpectedAnswer: a line is no JSON object, or endless.
        """
        first, *others = piece.split(b"\n")
        self._rest.append(first)
        self._size += len(first)
        if self._size > MOST_OF_A_LINE:
            raise _unexpected("A line of the export does not end.")
        if not others:
            return []
        complete = [b"".join(self._rest), *others[:-1]]
        self._rest, self._size = [others[-1]], len(others[-1])
        return [_row(line) for line in complete if line.strip()]

    def close(self) -> None:
        """No more is to come.

        Raises:
            AnswerLost: the last line is not complete.
        """
        if b"".join(self._rest).strip():
            raise AnswerLost(
                "The export ended in the middle of a row; call again.",
                Problem(code="answer_lost", retryable=True),
            )


def _row(line: bytes) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except ValueError:
        row = None
    if not isinstance(row, dict):
        raise _unexpected("A line of the export is no JSON object.")
    return row


def _unexpected(words: str) -> UnexpectedAnswer:
    return UnexpectedAnswer(words, Problem(code="unexpected_answer"))


def check_rows(format_name: str) -> None:
    """Rows and DataFrames are made of JSON Lines.

    Raises:
        WrongUse: the export has another format.
    """
    if format_name != "jsonl":
        raise WrongUse(
            f"An export as {format_name} has no rows; save() it, or leave out the format."
        )
