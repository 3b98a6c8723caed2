"""How far something long is: told to a callback, or drawn as one line on a terminal."""

import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self, TextIO

#: A terminal that is written to more often only flickers.
REDRAWN_EVERY = 0.1
SIZES = ("B", "kB", "MB", "GB", "TB")


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """A moment of something long; ``total`` is None where nobody knows, ``ended`` once at the end,
    also where it failed."""

    what: str
    done: int
    total: int | None
    unit: str
    note: str = ""
    ended: bool = False


Show = Callable[[Progress], None]


def silent(_progress: Progress) -> None:
    """Shows nothing."""


def shown_by(wish: bool | Show | None) -> Show:  # noqa: FBT001 - a wish, not a switch
    """The callback itself; a bar for True, nothing for False; for None a bar where stderr is a
    terminal."""
    if wish is None:
        wish = sys.stderr.isatty()
    if isinstance(wish, bool):
        return Bar(sys.stderr) if wish else silent
    return wish


class Bar:
    """One line that is drawn over; text from servers cannot move the cursor."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._clock = clock
        self._drawn = -REDRAWN_EVERY

    def __call__(self, progress: Progress) -> None:
        """Draw, unless that was only a moment ago."""
        now = self._clock()
        if not progress.ended and now - self._drawn < REDRAWN_EVERY:
            return
        self._drawn = -REDRAWN_EVERY if progress.ended else now
        width = max(20, shutil.get_terminal_size().columns - 1)
        line = line_of(progress, width)
        self._stream.write(f"\r{line:<{width}}" + ("\n" if progress.ended else ""))
        self._stream.flush()


def line_of(progress: Progress, width: int) -> str:
    """``Import  [#####.....]  50 %  5,000 of 10,000 rows``, cut at ``width``."""
    if not progress.total:
        words = f"{progress.what}  {amount(progress.done, progress.unit)}  {progress.note}"
        return _printable(words)[:width].rstrip()
    done = amount(progress.done, progress.unit).removesuffix(f" {progress.unit}")
    share = min(1.0, progress.done / progress.total)
    words = f"{share:4.0%}  {done} of {amount(progress.total, progress.unit)}  {progress.note}"
    cells = max(5, min(30, width - len(progress.what) - len(words) - 6))
    full = int(share * cells)
    drawn = f"{progress.what}  [{'#' * full}{'.' * (cells - full)}]  {words}"
    return _printable(drawn)[:width].rstrip()


def amount(number: int, unit: str) -> str:
    """``5,000 rows``, ``1.2 MB``."""
    if unit not in SIZES:
        return f"{number:,} {unit}"
    size, at = float(number), 0
    while size >= 1000 and at < len(SIZES) - 1:
        size, at = size / 1000, at + 1
    return f"{size:.1f} {SIZES[at]}" if at else f"{number} B"


def _printable(words: str) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in words)


class Meter:
    """Counts for one long thing and tells ``show``; a context manager, so that it always ends."""

    def __init__(self, show: Show, what: str, *, total: int | None, unit: str) -> None:
        self._show = show
        self._what, self._unit = what, unit
        self.done, self.total = 0, total
        self._note = ""

    def __enter__(self) -> Self:
        self._tell()
        return self

    def __exit__(self, *_: object) -> None:
        self._tell(ended=True)

    def reach(self, done: int, note: str = "") -> None:
        """So far it is."""
        self.done, self._note = done, note
        self._tell()

    def add(self, more: int) -> None:
        """So much further."""
        self.reach(self.done + more)

    def _tell(self, *, ended: bool = False) -> None:
        moment = Progress(
            what=self._what,
            done=self.done,
            total=self.total,
            unit=self._unit,
            note=self._note,
            ended=ended,
        )
        self._show(moment)
