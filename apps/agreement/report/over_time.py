"""Agreement by the date of the labels."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta

from django.db.models import Count, Max, Min
from django.utils.formats import date_format, get_format
from django.utils.timezone import localdate
from django.utils.translation import gettext

from apps.agreement.charts import figure_columns
from apps.agreement.report.charts import Series, series_marks
from apps.agreement.report.label_matrix import read_label_matrix
from apps.agreement.report.services import report_turn
from apps.agreement.report.slices import Slice
from apps.agreement.report.tables import MAIN_WORDS
from apps.common.charts import (
    KIND_WORDS,
    Axis,
    Chart,
    Mark,
    Name,
    axis_floor,
    kind_order,
    number_tick,
    share_tick,
)
from apps.common.figures import count_words, day_words, ends
from apps.labels.models import Label
from apps.projects.models import LabelSchema, Project
from labelhub.core.agreement.reports.kind_agreement import kind_agreement

#: At most so many periods; each is read by itself.
MOST_PERIODS = 12
#: Above this many labels the periods would take too long to read one by one.
MOST_LABELS = 300_000
PEOPLE = ("crowd", "expert")


@dataclass(frozen=True, slots=True)
class Period:
    """Days, both included."""

    first: date
    last: date

    @property
    def words(self) -> str:
        """``3 Nov`` for a day, ``3–9 Nov`` for more within a month."""
        last = day_words(self.last)
        if self.first == self.last:
            return last
        pattern = get_format("MONTH_DAY_FORMAT")
        if self.first.month == self.last.month:
            pattern = pattern.removesuffix(" M")
        return f"{date_format(self.first, pattern)}–{last}"


def agreement_over_time(project: Project, asked: Slice, schema: LabelSchema) -> Chart | None:
    """People's agreement by period; None for one of the reasons of ``why_not_over_time``.

    ``schema``: the current one, which ``asked`` was checked against.
    """
    found, why_not = _periods(project, asked)
    if why_not:
        return None
    name = "alpha_nominal" if asked.label else schema.task.coefficients[0]
    with report_turn(project.pk):
        parts = [replace(asked, since=period.first, until=period.last) for period in found]
        sheets = [read_label_matrix(project, part, schema=schema) for part in parts]
        series = [
            Series(
                gettext(KIND_WORDS[kind]),
                kind,
                [kind_agreement(sheet, kind).get(name) for sheet in sheets],
            )
            for kind in PEOPLE
            if any(sheet.raters_of(kind) > 1 for sheet in sheets)
        ]
    words = [period.words for period in found]
    return draw_over_time(words, series, of=gettext(MAIN_WORDS[name]), percent=name == "percent")


def why_not_over_time(project: Project, asked: Slice) -> str:
    """Why there is no chart over time, in words."""
    return _periods(project, asked)[1] or gettext(
        "On no day did two people of one kind label the same item."
    )


def _periods(project: Project, asked: Slice) -> tuple[Sequence[Period], str]:
    """The periods of people's labels, or why there are none."""
    labels = Label.objects.filter(annotator__project=project, annotator__kind__in=PEOPLE)
    counted = labels.aggregate(n=Count("pk"), first=Min("created_at"), last=Max("created_at"))
    if counted["n"] > MOST_LABELS:
        words = gettext("%(number)s labels by people are too many to be read period by period.")
        return [], words % {"number": count_words(counted["n"])}
    if not counted["n"]:
        return [], gettext("No labels by people yet.")
    found = periods(
        max(localdate(counted["first"]), asked.since or date.min),
        min(localdate(counted["last"]), asked.until or date.max),
    )
    if len(found) < 2:
        if found:
            return [], gettext("All labels by people were given on one day.")
        return [], gettext("No labels by people on these days.")
    return found, ""


def periods(first: date, last: date) -> Sequence[Period]:
    """The days from ``first`` to ``last`` in equal parts of whole days, weeks if it is long."""
    days = (last - first).days + 1
    if days < 1:
        return []
    length = max(1, -(-days // MOST_PERIODS))
    if length > 1:
        length = -(-length // 7) * 7
    starts = [first + timedelta(days=number) for number in range(0, days, length)]
    return [Period(start, min(start + timedelta(days=length - 1), last)) for start in starts]


def draw_over_time(
    periods: Sequence[str],
    series: Sequence[Series],
    *,
    of: str,
    percent: bool = False,
) -> Chart | None:
    """A coefficient by period, a line per kind.

    A period without a number breaks the line: nothing is known between its neighbours.
    """
    known = [place for line in series for figure in line.figures if (place := ends(figure))]
    if not known:
        return None
    low = axis_floor([low for low, *_ in known])
    high = min(1.0, math.ceil(max(high for *_, high in known) * 10 - 1e-9) / 10)
    marks: list[Mark] = []
    for number, line in enumerate(sorted(series, key=lambda line: kind_order(line.kind))):
        aside = (number - (len(series) - 1) / 2) * 0.1
        places = [(place + aside, period) for place, period in enumerate(periods)]
        marks += series_marks(line, places, percent=percent)
    return Chart(
        key="over-time",
        title=gettext("%(measure)s over time") % {"measure": of},
        description=gettext("%(title)s, with 95 %% intervals.") % {"title": of},
        rows=[
            {"source": line.name, "kind": line.kind, "period": period, **figure_columns(figure)}
            for line in series
            for period, figure in zip(periods, line.figures, strict=True)
        ],
        x=Axis(names=[Name(period) for period in periods], step=22),
        y=Axis(
            title=of,
            low=low,
            high=high if high > low else low + 0.1,
            words=share_tick if percent else number_tick,
        ),
        marks=marks,
    )
