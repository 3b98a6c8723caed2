"""Click-through of a site's offers, or of the arms of an experiment (paper 004, section 4).

In an experiment all assigned authors count, also those who saw no offer and those whom the site
does not believe (intention to treat), as an arm may have caused that. The report of all offers
leaves out authors whom the site does not believe: the paper bans "flagrant users" from its analysis
(appendix A.1). A look covers the events up to the end of its day (a click counts at its own time),
so that later events do not change earlier looks.
"""

from collections import defaultdict
from datetime import datetime
from typing import Any

from django.db.models import Case, Count, F, Max, Q, QuerySet, When
from django.utils import timezone

from apps.authors.models import Author
from apps.authors.querysets import counting_authors
from apps.echo.models import Decision, Echo, Experiment, OfferEvent
from apps.echo.services.experiments import arm_of, takes_turns
from labelhub.core.echo.experiments.click_through import (
    Occasion,
    arm_figures,
    compare,
    impressions_of,
    parts_by,
    totals,
)
from labelhub.core.echo.experiments.looks import daily_looks

#: Name of the single arm if there is no experiment.
ALL = "offers"
#: Rows per read from the database.
AT_ONCE = 2_000


def make_report(
    echo: Echo, experiment: Experiment | None = None, since: datetime | None = None
) -> dict[str, Any]:
    """The report of an experiment, or of a site's offers ``since`` then; constant queries.

    Messages without a decision in time count in their arm, so that a slow arm does not look better.

    Returns:
        What REST returns; days are UTC. arms: the control last; without an experiment one of all
        offers. Of each the designed share of the authors, its figures, and its parts by day,
        weekday (0 is Monday) and vertical. comparisons: of the other arms with the control.
        assigned: clicks per eligible message, which decides. shown: clicks per impression; an arm
        that shows fewer offers may look better here. looks: by day, corrected for repetition.
        displays: shown offers, before impressions merge some of them. doubted: authors whom the
        site does not believe; counted in an experiment, else left out. undecided: eligible messages
        without a decision in time.
    """
    design: dict[str, Any] = {"arms": [{"name": ALL, "share": 1.0, "policy": ""}], "control": ""}
    rows = Decision.objects.filter(echo=echo.pk)
    if experiment is not None:
        rows, design = _rows_of(experiment), experiment.design
    elif since is not None:
        rows = rows.filter(message_at__gte=since)
    control = design["control"]
    others = [arm["name"] for arm in design["arms"] if control and arm["name"] != control]
    logs, doubted, undecided = _read(rows, experiment)
    shown = {arm["name"]: impressions_of(logs[arm["name"]]) for arm in design["arms"]}
    sums = {name: totals(logs[name], impressions) for name, impressions in shown.items()}
    return {
        "made_at": timezone.now().isoformat(),
        "assigned_by": "window" if experiment and takes_turns(experiment) else "author",
        "arms": [
            {
                **arm,
                "control": arm["name"] == control,
                "figures": arm_figures(sums[arm["name"]]),
                "days": dict(sorted(parts_by(shown[arm["name"]], _day).items())),
                "weekdays": dict(sorted(parts_by(shown[arm["name"]], _weekday).items())),
                "verticals": parts_by(shown[arm["name"]], lambda message: message.vertical),
            }
            for arm in sorted(design["arms"], key=lambda arm: arm["name"] == control)
        ],
        "comparisons": [
            {
                "arm": name,
                "control": control,
                "assigned": compare(sums[name], sums[control], "eligible"),
                "shown": compare(sums[name], sums[control], "impressions"),
                "looks": daily_looks(logs[name], logs[control], len(others)),
            }
            for name in others
        ],
        "displays": sum(message.vertical is not None for log in logs.values() for message in log),
        "doubted": doubted,
        "undecided": undecided,
    }


def experiment_mark(experiment: Experiment) -> tuple[int | None, ...]:
    """Changes with anything that the experiment's report counts; three queries."""
    rows = _rows_of(experiment)
    decisions = rows.aggregate(
        n=Count("pk"),
        last=Max("pk"),
        shown=Count("shown_at"),
        decided=Count("pk", filter=~Q(policy="")),
    )
    clicks = OfferEvent.objects.filter(kind=OfferEvent.Kind.CLICKED, decision__in=rows).count()
    believed = Author.objects.filter(counting_authors(), site=experiment.echo_id).count()
    return (*decisions.values(), clicks, believed)


def _read(
    rows: QuerySet[Decision], experiment: Experiment | None
) -> tuple[defaultdict[str, list[Occasion]], int, int]:
    """The messages by arm, the number of authors whom the site does not believe, and the number of
    messages without a decision."""
    logs: defaultdict[str, list[Occasion]] = defaultdict(list)
    clicks: defaultdict[int, list[datetime]] = defaultdict(list)
    clicked = OfferEvent.objects.filter(kind=OfferEvent.Kind.CLICKED)
    clicked = clicked.filter(decision__in=rows.order_by().values("pk")).order_by("pk")
    for decision, time in clicked.values_list("decision_id", "at"):
        clicks[decision].append(time)
    doubted, undecided = set[int](), 0
    counts = Case(When(counting_authors("author"), then=True), default=False)
    read = rows.annotate(counts=counts, author_uid=F("author__uid")).order_by("pk")
    for row in read.values_list(
        "pk", "author_id", "author_uid", "counts", "policy", "arm", "unit", "message_at",
        "shown_at", "vertical", named=True,
    ).iterator(chunk_size=AT_ONCE):  # fmt: skip
        if not row.counts:
            doubted.add(row.author_id)
            if experiment is None:
                continue
        arm, unit = ALL, row.author_uid.hex
        if experiment is not None:
            late = not row.policy
            arm, unit = (arm_of(experiment, unit).name, unit) if late else (row.arm, row.unit)
        undecided += not row.policy
        seen = () if row.shown_at is None else (row.vertical, tuple(clicks[row.pk]))
        logs[arm].append(Occasion(unit, row.message_at, *seen))
    return logs, len(doubted), undecided


def _day(shown: Occasion) -> str:
    return shown.at.date().isoformat()


def _weekday(shown: Occasion) -> int:
    return shown.at.weekday()


def _rows_of(experiment: Experiment) -> QuerySet[Decision]:
    """The messages of an experiment, and those of its time that were not decided in time: they have
    no arm stored."""
    rows = Decision.objects.filter(experiment=experiment)
    if experiment.started_at is None or takes_turns(experiment):
        return rows
    late = Q(echo=experiment.echo_id, experiment=None, policy="")
    late &= Q(message_at__gte=experiment.started_at)
    if experiment.ended_at:
        late &= Q(message_at__lt=experiment.ended_at)
    return rows | Decision.objects.filter(late)
