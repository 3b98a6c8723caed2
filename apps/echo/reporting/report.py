"""Click-through of a site's offers, or of the arms of an experiment."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime, tzinfo
from typing import Any

from django.utils import timezone

from apps.echo.models import Echo, Experiment
from apps.echo.offer_words import arm_words
from apps.echo.reporting.looking import DayLook, daily_looks
from apps.echo.reporting.records import Records, records_of_experiment, records_of_site
from apps.echo.services.experiments import design_of
from labelhub.core.echo.experiments.click_through import (
    ArmFigures,
    ArmPart,
    ClickComparison,
    Day,
    Totals,
    Verticals,
    arm_figures,
    by_day,
    by_exposure,
    by_vertical,
    by_weekday,
    compare,
    in_words,
    totals,
)
from labelhub.core.echo.experiments.impressions import Impression

#: Of an arm with the policy of the control.
SAME_POLICY = (
    "Both arms do the same: a difference is chance, and one that is proven says that assignment or "
    "counting is wrong."
)


@dataclass(frozen=True, slots=True)
class ArmReport:
    """An arm in numbers and in parts; without an experiment there is one, of all offers.

    ``share``: of the authors or windows, as designed. ``exposure``: by whole days since an
    author's first impression.
    """

    name: str
    policy: str
    share: float
    control: bool
    figures: ArmFigures
    days: Sequence[Day]
    weekdays: Sequence[ArmPart]
    verticals: Verticals
    exposure: Mapping[int, ArmPart]

    @property
    def words(self) -> str:
        """What it is called."""
        return arm_words(self.name)


@dataclass(frozen=True, slots=True)
class ArmComparison:
    """An arm against the control.

    Args:
        assigned: clicks per eligible message: what was assigned is compared, so this one decides.
        shown: clicks per impression; an arm that shows less may look better by it.
        words: the ratio of ``assigned`` by both its names; "" where there is none.
        note: what has to be known to read it; "" where nothing.
        looks: day by day, corrected for looking often.
    """

    arm: str
    control: str
    assigned: ClickComparison
    shown: ClickComparison
    words: str
    note: str
    looks: Sequence[DayLook]


@dataclass(frozen=True, slots=True)
class OfferReport:
    """What the log says. ``displays`` were merged into impressions; see :class:`.Records`."""

    made_at: datetime
    assigned_by: str
    arms: Sequence[ArmReport]
    comparisons: Sequence[ArmComparison]
    displays: int
    doubted: int
    undecided: int
    unmatched: int

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form: moments and days as ISO 8601."""
        told: dict[str, Any] = _plain(asdict(self))
        return told


def make_report(
    echo: Echo, experiment: Experiment | None = None, since: datetime | None = None
) -> OfferReport:
    """The report of an experiment, or of a site's offers, about messages since then where given.

    Takes a constant number of queries.
    """
    zone = timezone.get_default_timezone()
    records = records_of_experiment(experiment) if experiment else records_of_site(echo, since)
    sums = totals(records.units, records.counted.impressions, records.arms)
    told = dict.fromkeys(records.arms, ("", 1.0))
    if experiment is not None:
        told = {arm.name: (arm.policy, arm.share) for arm in design_of(experiment).arms}
    shown = _by_arm(records)
    control = records.arms[-1] if experiment else ""
    arms = [
        _arm(name, told[name], sums[name], shown[name], control=control, zone=zone)
        for name in records.arms
    ]
    policies = {name: policy for name, (policy, _) in told.items()}
    windows = experiment is not None and bool(design_of(experiment).windows)
    return OfferReport(
        made_at=timezone.now(),
        assigned_by="window" if windows else "author",
        arms=arms,
        comparisons=_comparisons(records, sums, policies, zone) if experiment else [],
        displays=records.displays,
        doubted=records.doubted,
        undecided=records.undecided,
        unmatched=records.counted.unmatched,
    )


def _by_arm(records: Records) -> dict[str, list[Impression]]:
    arm_of = {unit.unit: unit.arm for unit in records.units}
    found: dict[str, list[Impression]] = {name: [] for name in records.arms}
    for impression in records.counted.impressions:
        found[arm_of[impression.unit]].append(impression)
    return found


def _arm(
    name: str,
    told: tuple[str, float],
    sums: Totals,
    shown: Sequence[Impression],
    *,
    control: str,
    zone: tzinfo,
) -> ArmReport:
    policy, share = told
    return ArmReport(
        name=name,
        policy=policy,
        share=share,
        control=name == control,
        figures=arm_figures(sums),
        days=by_day(shown, zone),
        weekdays=by_weekday(shown, zone),
        verticals=by_vertical(shown),
        exposure=by_exposure(shown),
    )


def _comparisons(
    records: Records, sums: Mapping[str, Totals], policies: Mapping[str, str], zone: tzinfo
) -> list[ArmComparison]:
    *arms, control = records.arms
    looks = daily_looks(records, zone)
    found = []
    for arm in arms:
        assigned = compare(sums[arm], sums[control], "eligible")
        ratio = assigned.ratio["value"]
        found.append(
            ArmComparison(
                arm=arm,
                control=control,
                assigned=assigned,
                shown=compare(sums[arm], sums[control], "impressions"),
                words="" if ratio is None else in_words(ratio),
                note=SAME_POLICY if policies[arm] == policies[control] else "",
                looks=looks[arm],
            )
        )
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value.isoformat() if isinstance(value, date) else value
