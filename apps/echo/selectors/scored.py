"""Predictions beside the answers that came to them: counted by the database, bounded in number."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import BigIntegerField, Count, ExpressionWrapper, F, QuerySet, Sum
from django.db.models.functions import Floor

from apps.echo.models import Echo, Scored

#: Answers are looked at among so many of the newest events.
WINDOW = 50_000
#: Stretches of the log that the database counts, for one curve and for each of many.
FINE, COARSE = 192, 48
#: Points of a curve and of a small one; and parts of the diagram of σ.
POINTS, FEW_POINTS, PARTS = 16, 8, 10
#: Answers that a point stands for at least: of fewer the share jumps.
LEAST_A_POINT = 12


@dataclass(frozen=True, slots=True)
class Tally:
    """Answers that came one after the other: how many, the sum of their losses and of the σ told
    before; ``upto``: all answers until then."""

    n: int
    wrong: float
    sigma: float
    upto: int = 0

    @property
    def right(self) -> float:
        """The share that was predicted rightly."""
        return 1 - self.wrong / self.n


def newest_scored(echo: Echo, feature: str = "") -> QuerySet[Scored]:
    """Those of the newest :data:`WINDOW` events whose answers count, of one feature where given."""
    found = Scored.objects.filter(echo=echo, stands=True, number__gt=echo.logged - WINDOW)
    return found.filter(feature=feature) if feature else found


def curve(echo: Echo, feature: str = "") -> list[Tally]:
    """The answers over time, in at most :data:`FINE` stretches, oldest first."""
    found = newest_scored(echo, feature).annotate(stretch=_stretch(echo, FINE)).values("stretch")
    rows = found.annotate(**_SUMS).order_by("stretch").values_list("n", "wrong", "doubt")
    return [Tally(*row) for row in rows]


def curves(echo: Echo, features: Iterable[str]) -> dict[str, list[Tally]]:
    """The same for many features in one query, in at most :data:`COARSE` stretches each."""
    found = newest_scored(echo).filter(feature__in=list(features))
    rows = (
        found.annotate(stretch=_stretch(echo, COARSE))
        .values("feature", "stretch")
        .annotate(**_SUMS)
        .order_by("feature", "stretch")
        .values_list("feature", "n", "wrong", "doubt")
    )
    by_feature: dict[str, list[Tally]] = {}
    for feature, *told in rows:
        by_feature.setdefault(feature, []).append(Tally(*told))
    return by_feature


def reliability(echo: Echo, feature: str = "") -> list[Tally]:
    """The answers by what σ was told before them, in :data:`PARTS` parts from sure to unsure."""
    part = ExpressionWrapper(Floor(F("sigma") * PARTS), output_field=BigIntegerField())
    found = newest_scored(echo, feature).annotate(part=part).values("part").annotate(**_SUMS)
    return [Tally(*row) for row in found.order_by("part").values_list("n", "wrong", "doubt")]


def whole(tallies: Sequence[Tally]) -> Tally:
    """All of them as one."""
    n = sum(each.n for each in tallies)
    return Tally(n, sum(each.wrong for each in tallies), sum(each.sigma for each in tallies), n)


def points(tallies: Sequence[Tally], most: int = POINTS) -> list[Tally]:
    """Neighbours put together until each has about as many answers, :data:`LEAST_A_POINT` and
    more where there are so many: at most ``most``."""
    least = max(sum(each.n for each in tallies) / most, LEAST_A_POINT)
    merged: list[Tally] = []
    waiting: list[Tally] = []
    upto = 0
    for each in tallies:
        waiting.append(each)
        upto += each.n
        if sum(one.n for one in waiting) >= least:
            merged.append(_ending(waiting, upto))
            waiting = []
    if waiting:
        merged[-1:] = [_ending([*merged[-1:], *waiting], upto)]
    return merged


def calibration_error(parts: Sequence[Tally]) -> float | None:
    """Expected calibration error of σ: how far it is off on average; None without answers."""
    n = sum(each.n for each in parts)
    return sum(abs(each.sigma - each.wrong) for each in parts) / n if n else None


def _ending(tallies: Sequence[Tally], upto: int) -> Tally:
    told = whole(tallies)
    return Tally(told.n, told.wrong, told.sigma, upto)


_SUMS = {"n": Count("pk"), "wrong": Sum("loss"), "doubt": Sum("sigma")}


def _stretch(echo: Echo, most: int) -> "ExpressionWrapper[Any]":
    """The number of an answer's stretch of the log; all are equally long in events."""
    width = max(1, -(-min(echo.logged, WINDOW) // most))
    return ExpressionWrapper(F("number") / width, output_field=BigIntegerField())
