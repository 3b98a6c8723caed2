"""The progress of long operations: given to a callback, or drawn as one line on a terminal."""

import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self, TextIO

#: Seconds; a terminal that is written to more often flickers.
REDRAW_INTERVAL = 0.1
SIZES = ("B", "kB", "MB", "GB", "TB")


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The state of a long operation; ``total`` is None where it is not known, and ``ended`` is true
    once, at the end, also of an operation that failed."""

    what: str
    done: int
    total: int | None
    unit: str
    note: str = ""
    ended: bool = False


ProgressCallback = Callable[[Progress], None]


def ignore_progress(_progress: Progress) -> None:
    """The callback that shows nothing."""


def choose_callback(progress: bool | ProgressCallback | None) -> ProgressCallback:  # noqa: FBT001 - the client's own argument
    """The callback itself; a bar for True, nothing for False; for None a bar if stderr is a
    terminal."""
    if progress is None:
        progress = sys.stderr.isatty()
    if isinstance(progress, bool):
        return Bar(sys.stderr) if progress else ignore_progress
    return progress


class Bar:
    """One line that is redrawn in place; text from servers cannot move the cursor."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._clock = clock
        self._drawn = -REDRAW_INTERVAL

    def __call__(self, progress: Progress) -> None:
        """Draw, unless the last time was only a moment ago."""
        now = self._clock()
        if not progress.ended and now - self._drawn < REDRAW_INTERVAL:
            return
        self._drawn = -REDRAW_INTERVAL if progress.ended else now
        width = max(20, shutil.get_terminal_size().columns - 1)
        line = format_line(progress, width)
        self._stream.write(f"\r{line:<{width}}" + ("\n" if progress.ended else ""))
        self._stream.flush()


def format_line(progress: Progress, width: int) -> str:
    """``Import  [#####.....]  50 %  5,000 of 10,000 rows``, cut at ``width``."""
    if not progress.total:
        words = f"{progress.what}  {format_amount(progress.done, progress.unit)}  {progress.note}"
        return _printable(words)[:width].rstrip()
    done = format_amount(progress.done, progress.unit).removesuffix(f" {progress.unit}")
    share = min(1.0, progress.done / progress.total)
    words = (
        f"{share:4.0%}  {done} of {format_amount(progress.total, progress.unit)}  {progress.note}"
    )
    cells = max(5, min(30, width - len(progress.what) - len(words) - 6))
    full = int(share * cells)
    drawn = f"{progress.what}  [{'#' * full}{'.' * (cells - full)}]  {words}"
    return _printable(drawn)[:width].rstrip()


def format_amount(number: int, unit: str) -> str:
    """``5,000 rows``, ``1.2 MB``."""
    if unit not in SIZES:
        return f"{number:,} {unit}"
    size, power = float(number), 0
    while size >= 1000 and power < len(SIZES) - 1:
        size, power = size / 1000, power + 1
    return f"{size:.1f} {SIZES[power]}" if power else f"{number} B"


def _printable(words: str) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in words)


class Meter:
    """Counts for one long operation; a context manager, so that it always ends."""

    def __init__(
        self, callback: ProgressCallback, what: str, *, total: int | None, unit: str
    ) -> None:
        self._callback = callback
        self._what, self._unit = what, unit
        self.done, self.total = 0, total
        self._note = ""

    def __enter__(self) -> Self:
        self._report()
        return self

    def __exit__(self, *_: object) -> None:
        self._report(ended=True)

    def reach(self, done: int, note: str = "") -> None:
        """Report that so much is done."""
        self.done, self._note = done, note
        self._report()

    def _report(self, *, ended: bool = False) -> None:
        self._callback(
            Progress(
                what=self._what,
                done=self.done,
                total=self.total,
                unit=self._unit,
                note=self._note,
                ended=ended,
            )
        )
