"""Queries of searches for instructions: the running one, results, and instructions in use."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Max, Q, QuerySet, Sum

from apps.authors.models import Site
from apps.echo.models import Echo, PromptSearch
from labelhub.core.echo.prediction import instruction_faults
from labelhub.core.echo.prompt_search import LABELS, most_calls

#: Number of searches on a feature's page.
SHOWN = 20
_RUNNING = PromptSearch.Status.RUNNING


@dataclass(frozen=True, slots=True)
class Searches:
    """The searches of a site: the number of instructions in use, the running search with its
    feature's name and maximum number of calls, and the last search that made calls."""

    in_use: int
    running: PromptSearch | None
    name: str
    most: int
    last: PromptSearch | None


@dataclass(frozen=True, slots=True)
class Instruction:
    """One feature's instruction: the search that found it, its fault by current rules, the newest
    ended searches (at most :data:`SHOWN`), and the number of all ended ones."""

    used: PromptSearch | None
    fault: str
    past: Sequence[PromptSearch]
    count: int


def searches_of(site: Site, feature: str = "") -> QuerySet[PromptSearch]:
    """The searches of a site, newest first; with ``feature``, only those for it."""
    rows = PromptSearch.objects.filter(echo=site.pk).order_by("-pk")
    return rows.filter(feature=feature) if feature else rows


def searches_now(echo: Echo) -> Searches:
    """The state of a site's searches."""
    running = echo.searches.filter(status=_RUNNING).first()
    named = echo.site.features.filter(key=running.feature) if running else None
    name = named.values_list("definition__name", flat=True).first() if named else ""
    return Searches(
        in_use=echo.searches.filter(active=True).count(),
        running=running,
        name=name or (running.feature if running else ""),
        most=most_calls_of(running) if running else 0,
        last=echo.searches.filter(calls__gt=0).exclude(status=_RUNNING).order_by("-pk").first(),
    )


def instruction_about(echo: Echo, feature: str) -> Instruction:
    """A feature's current instruction and its searches."""
    rows = echo.searches.filter(feature=feature).order_by("-pk")
    used = rows.filter(active=True).first()
    faults = instruction_faults(used.instruction) if used else ()
    ended = rows.exclude(status=_RUNNING)
    fault = faults[0].detail if faults else ""
    return Instruction(used, fault, list(ended[:SHOWN]), ended.count())


def most_calls_of(search: PromptSearch) -> int:
    """The maximum number of calls of a search, by its number of answers at the start."""
    return most_calls(labels=min(LABELS, search.answers), present=bool(search.present))


def searches_mark(echo: Echo) -> Mapping[str, Any]:
    """A mark that changes with anything in :func:`searches_now` except budgets; one query."""
    return echo.searches.aggregate(
        in_use=Count("pk", filter=Q(active=True)),
        ended=Count("ended_at"),
        newest=Max("pk"),
        made=Sum("calls"),
    )


def instructions_of(echo: Echo) -> Mapping[str, str]:
    """The instruction in use for each feature that has one, without those that break a current
    rule."""
    rows = echo.searches.filter(active=True).exclude(instruction="")
    found = dict(rows.values_list("feature", "instruction"))
    return {key: text for key, text in found.items() if not instruction_faults(text)}
