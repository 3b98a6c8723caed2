"""Output of the simulation: progress, figures in words, learning curves as a file."""

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from apps.common.charts import Axis, Chart, Line, number_tick
from apps.common.charts.files import svg_file
from labelhub.core.errors import InvalidInput

#: Names of the simulator's arms, in the order of the legend.
ARM_NAMES = {
    "echo": "Echo",
    "random": "asks about any feature",
    "random_shown": "asks about any shown feature",
    "no_asking": "does not ask",
    "no_learning": "learns nothing",
}
_ENDS = ("low", "value", "high")
#: Colours of the arms in order; each arm has its own dash pattern too.
_COLOURS = ("author", "llm", "crowd", "expert", "other")


#: The panels of the picture.
TITLES = {
    "accuracy": "Accuracy on the features that matter most",
    "found": "Share of these features that are shown",
    "regret": "Lost probability of a click per message",
}


def draw_curves(points: Sequence[Mapping[str, Any]]) -> str:
    """Draw the curves of :func:`labelhub.core.echo.simulator.curves` with 95 % bands as SVG, one
    panel below the other."""
    return svg_file(*(_panel(figure, points) for figure in TITLES))


def _panel(figure: str, points: Sequence[Mapping[str, Any]]) -> Chart:
    shown = [point for point in points if point["figure"] == figure]
    # A single world has no interval.
    ends = [point[end] for point in shown for end in _ENDS if point[end] is not None]
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    lines = []
    for number, (arm, name) in enumerate(ARM_NAMES.items()):
        mine = [point for point in shown if point["arm"] == arm]
        lines.append(
            Line(
                points=[(point["messages"], point["value"]) for point in mine],
                band=[
                    (point["messages"], point["low"], point["high"])
                    for point in mine
                    if point["low"] is not None
                ],
                kind=_COLOURS[number],
                dash=number,
                name=name,
            )
        )
    return Chart(
        key=figure,
        title=TITLES[figure],
        rows=shown,
        x=Axis(
            title="messages",
            low=min((point["messages"] for point in shown), default=0),
            high=max((point["messages"] for point in shown), default=1),
            words=number_tick,
        ),
        y=Axis(low=low, high=high if high > low else low + 1, words=number_tick),
        marks=lines,
        height=220,
    )


#: Seconds between two lines of progress.
_TELL_EVERY = 10.0


def progress(say: Callable[[str], None]) -> Callable[[int, int], None]:
    """A callback that reports the progress through ``say``, every ten seconds."""
    begun, last_told = time.monotonic(), 0.0

    def tell(done: int, whole: int) -> None:
        nonlocal last_told
        spent = time.monotonic() - begun
        if done < whole and spent - last_told >= _TELL_EVERY:
            last_told = spent
            left = spent / done * (whole - done)
            say(f"{done} of {whole} runs done, about {left / 60:.0f} min left")

    return tell


def curves_file(name: str | None) -> Path | None:
    """The path of the curves, checked before a long simulation.

    Raises:
        InvalidInput: the path is not an .svg file that can be written.
    """
    if name is None:
        return None
    target = Path(name)
    if target.suffix != ".svg":
        raise InvalidInput.at("curves", "must end in .svg.")
    if not target.parent.is_dir():
        raise InvalidInput.at("curves", f"there is no folder {target.parent}.")
    there = target.exists()
    try:
        target.open("a").close()
    except OSError as error:
        raise InvalidInput.at(
            "curves", f"cannot be written: {target} ({error.strerror})."
        ) from None
    if not there:
        target.unlink()
    return target


def figure_words(figure: Mapping[str, Any]) -> str:
    """A figure with its interval in words."""
    if figure["value"] is None:
        return f"none ({figure['reason'].replace('_', ' ')})"
    if figure["low"] is None or figure["high"] is None:
        return f"{figure['value']:.3f} (n {figure['n']})"
    return f"{figure['value']:.3f} ({figure['low']:.3f} to {figure['high']:.3f}, n {figure['n']})"
