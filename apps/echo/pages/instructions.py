"""What a feature's page says of its instruction and of the searches for one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from apps.authors.services.limits import budget_spent
from apps.echo.models import Echo, PromptSearch
from apps.echo.selectors.searches import SHOWN, instruction_about, searches_now
from apps.echo.services.search_schedule import LEAST_ANSWERS, NEW_ANSWERS, calls_left
from labelhub.core.echo.prompt_search import LEAST_AUTHORS

_NONE = {"value": None, "reason": "nothing was compared"}
_TONES: Mapping[str, tuple[str, str]] = {
    PromptSearch.Status.BETTER: ("ok", "check"),
    PromptSearch.Status.UNCHANGED: ("", "close"),
    PromptSearch.Status.STOPPED: ("", "stop"),
}


@dataclass(frozen=True, slots=True)
class ShownSearch:
    """A search that has ended: figures of what was in use when it began and of the best that it
    tried, by how much they differ, and the tone and icon of its status."""

    search: PromptSearch
    before: Mapping[str, Any]
    best: Mapping[str, Any]
    difference: str
    tone: str
    icon: str


def searching_parts(echo: Echo) -> dict[str, Any]:
    """How the site's searches stand, and why the one under way rests, where it does."""
    now = searches_now(echo)
    return {"searches": now, "resting": _resting(echo) if now.running else ""}


def instruction_parts(echo: Echo, feature: str) -> dict[str, Any]:
    """The part of the page; as many queries for any number of searches."""
    about, parts = instruction_about(echo, feature), searching_parts(echo)
    running = parts["searches"].running
    return parts | {
        "used": shown_search(about.used) if about.used else None,
        "fault": about.fault,
        "running": running if running and running.feature == feature else None,
        "past": [shown_search(each) for each in about.past],
        "past_count": about.count,
        "past_shown": SHOWN,
        "least_answers": LEAST_ANSWERS,
        "least_authors": LEAST_AUTHORS,
        "new_answers": NEW_ANSWERS,
    }


def shown_search(search: PromptSearch) -> ShownSearch:
    """A search with its figures as they were stored when it ended."""
    figures = search.found.get("figures", {})
    return ShownSearch(
        search,
        figures.get("present") or _NONE,
        figures.get("best") or _NONE,
        _difference(figures.get("difference") or {}),
        *_TONES[search.status],
    )


def _resting(echo: Echo) -> str:
    """Why the search under way makes no calls today; empty where it does."""
    if not calls_left(echo):
        return "The calls of today are used up; it goes on tomorrow (UTC)."
    if budget_spent(echo.site):
        return "The site's budget of today is spent; it goes on tomorrow (UTC)."
    return ""


def _difference(figure: Mapping[str, Any]) -> str:
    """Points between the two, with the interval and how it was made: its confidence is not that of
    the other figures."""
    value, low, high = (figure.get(name) for name in ("value", "low", "high"))
    if value is None:
        return ""
    if low is None or high is None:
        return f"{_points(value)} points; {figure.get('doubt') or 'no interval'}"
    return f"{_points(value)} points, {_points(low)} to {_points(high)} ({figure['method']})"


def _points(share: float) -> str:
    return f"{100 * share + 0.0:+.0f}".replace("-", "−")
