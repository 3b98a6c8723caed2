"""Charts of a person's work over stretches of labels or weeks, with intervals."""

import math
from collections.abc import Callable, Sequence

from django.utils.translation import gettext, gettext_noop

from apps.common.charts import Axis, Chart, Line, Name, Point
from apps.common.figures import draw_figure, duration, ends, figure_row
from apps.reviews.quality.work import Stretch
from labelhub.core.agreement.figures import Figure

# Columns, which stay English in files.
STRETCH, LABELS = gettext_noop("stretch"), gettext_noop("labels")
#: Round steps of a scale of seconds.
STEPS = (1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600)


def accuracy_chart(stretches: Sequence[Stretch], kind: str) -> Chart | None:
    """Accuracy on gold questions; None without answers to them."""

    def words(figure: Figure) -> str:
        drawn = draw_figure(figure, percent=True)
        return gettext("%(value)s, %(low)s to %(high)s, n %(n)s") % {
            "value": drawn.value,
            "low": drawn.low,
            "high": drawn.high,
            "n": drawn.n,
        }

    figures = [stretch.accuracy for stretch in stretches]
    axis = Axis(ticks=(0, 0.25, 0.5, 0.75, 1))
    return _chart(
        "accuracy", gettext("Accuracy on gold questions"), stretches, figures, (axis, kind, words)
    )


def speed_chart(stretches: Sequence[Stretch], kind: str) -> Chart | None:
    """Median seconds; None if too few were measured."""

    def words(figure: Figure) -> str:
        ends = {name: duration(figure[name]) for name in ("value", "low", "high")}
        return gettext("%(value)s, %(low)s to %(high)s") % ends

    figures = [stretch.seconds for stretch in stretches]
    highest = max((figure.get("high") or 0.0 for figure in figures), default=0.0)
    step = next((step for step in STEPS if step * 4 >= highest), math.ceil(highest / 4))
    count = max(1, math.ceil(highest / step))
    axis = Axis(
        high=step * count,
        ticks=[step * number for number in range(count + 1)],
        words=lambda seconds: duration(seconds) if seconds else "0",
    )
    title = gettext("Seconds per answer (median)")
    return _chart("seconds", title, stretches, figures, (axis, kind, words))


def _chart(
    key: str,
    title: str,
    stretches: Sequence[Stretch],
    figures: Sequence[Figure],
    look: tuple[Axis, str, Callable[[Figure], str]],
) -> Chart | None:
    axis, kind, words = look
    known = [ends(figure) if figure.get("low") is not None else None for figure in figures]
    if not any(known):
        return None
    return Chart(
        key=f"quality-{key}",
        title=title,
        description=gettext("%(title)s with 95 %% intervals, %(first)s to %(last)s.")
        % {"title": title, "first": stretches[0].words, "last": stretches[-1].words},
        rows=[
            {STRETCH: stretch.words, LABELS: stretch.labels, **figure_row(figure)}
            for stretch, figure in zip(stretches, figures, strict=True)
        ],
        shares=("value", "low", "high") if key == "accuracy" else (),
        x=Axis(names=[Name(stretch.words) for stretch in stretches], step=0),
        y=axis,
        marks=[
            Line(points=[values and (x, values[1]) for x, values in enumerate(known)], kind=kind),
            *(
                Point(
                    x=x,
                    y=values[1],
                    y_ends=(values[0], values[2]),
                    kind=kind,
                    words=f"{stretches[x].words}: {words(figures[x])}",
                )
                for x, values in enumerate(known)
                if values
            ),
        ],
    )
