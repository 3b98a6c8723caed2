"""What holds a run back just now, for its page: as data, and in words."""

from collections.abc import Iterator
from typing import Any

from apps.debates.services.driving.asker import Models
from apps.debates.services.scripts import Script
from apps.llm.models import Provider
from apps.llm.traffic import (
    ADAPTIVE_LIMIT,
    CONCURRENCY_SETTING,
    PROVIDER_RATE,
    RATE_LIMIT,
    TIME_OUTS,
    LineState,
)

OFFLINE = "This machine: the offline model works here."
#: How many of the last changes of a limit are told.
CHANGES = 5


def pulse_of(script: Script, models: Models, calls: int) -> dict[str, Any]:
    """What a slice reports of itself: ``calls`` under way, ``limited_by`` in words, and ``limits``,
    an entry for each provider (see :func:`limits_of`)."""
    limits = limits_of(script, models)
    return {"calls": calls, "limited_by": _first_words(script, limits), "limits": limits}


def limits_of(script: Script, models: Models) -> list[dict[str, Any]]:
    """How the line to each provider is doing, JSON-ready.

    Each has ``provider`` (its name), ``limit``, ``in_flight``, ``waiting``, ``limited_by`` (as
    ``LineState``), ``words`` for it, ``refused_share``, ``breaker_open`` and ``changes`` (words).
    """
    return [_told(provider, models.state_of(provider)) for provider in _providers(script)]


def _first_words(script: Script, limits: list[dict[str, Any]]) -> str:
    if script.offline:
        return OFFLINE
    return next((each["words"] for each in limits if each["words"]), "")


def _providers(script: Script) -> Iterator[Provider]:
    found = {model.provider_id: model.provider for model in script.models if not model.offline}
    yield from sorted(found.values(), key=lambda provider: provider.name)


def _told(provider: Provider, state: LineState) -> dict[str, Any]:
    return {
        "provider": provider.name,
        "limit": state.limit,
        "in_flight": state.in_flight,
        "waiting": state.waiting,
        "limited_by": state.limited_by,
        "words": _words(provider, state),
        "refused_share": round(state.refused_share, 3),
        "breaker_open": state.breaker_open,
        "changes": [f"{each.old} to {each.new}: {each.why}" for each in state.changes[-CHANGES:]],
    }


def _words(provider: Provider, state: LineState) -> str:
    if state.breaker_open:
        return f"{provider.name}: call after call failed; nothing is sent any more."
    if state.limited_by == RATE_LIMIT:
        return f"Rate limit. {provider.name}: the last answer was 'too many requests' (429)."
    if state.limited_by == TIME_OUTS:
        last = "the last call" if state.unanswered == 1 else f"the last {state.unanswered} calls"
        waited = f"no answer within {provider.read_timeout:g} s to {last}"
        return f"Time-outs. {provider.name}: {waited}; at most {state.limit} at a time now."
    if state.limited_by == PROVIDER_RATE:
        return f"{provider.name}: it takes {_rates(state)}."
    if state.limited_by == CONCURRENCY_SETTING:
        return f"The setting for {provider.name}: at most {state.limit} calls at a time."
    if state.limited_by == ADAPTIVE_LIMIT:
        return f"{provider.name}: {state.limit} calls at a time, as many as it took so far."
    return ""


def _rates(state: LineState) -> str:
    known = ((state.rpm, "calls"), (state.tpm, "tokens"))
    rates = [f"{rate:,} {what} a minute" for rate, what in known if rate]
    return " and ".join(rates) or "no more calls for the moment"
