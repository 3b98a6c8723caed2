"""Decisions and what became of them, written down as hand-counted logs need them."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from itertools import count
from typing import Any

from apps.authors.models import Author
from apps.echo.models import Decision, Echo, Experiment, OfferEvent

_refs = count(1)


def decision_of(
    echo: Echo,
    author: Author,
    time: datetime,
    *,
    shown: bool = True,
    events: Sequence[str] = (),
    **fields: Any,
) -> Decision:
    """A decision about a message of that moment; ``events`` are the kinds of its events."""
    usual: dict[str, Any] = {"policy": "echo", "why": "no_match", "status": "nothing"}
    if shown:
        usual |= {
            "status": "shown",
            "why": "good_match",
            "item_ref": "tent",
            "vertical": "sleeping",
            "sent_at": time,
            "shown_at": time + timedelta(seconds=2),
        }
    made = Decision.objects.create(
        echo=echo, author=author, message_at=time, **(usual | {"created_at": time} | fields)
    )
    for kind in ["shown"] * shown + list(events):
        event_of(made, kind, time + timedelta(seconds=3))
    return made


def event_of(decision: Decision, kind: str, time: datetime) -> OfferEvent:
    """Something that became of an offer."""
    return OfferEvent.objects.create(decision=decision, kind=kind, ref=f"e{next(_refs)}", at=time)


def chosen(
    echo: Echo,
    author: Author,
    time: datetime,
    item: str,
    chances: Mapping[str, float],
    **fields: Any,
) -> Decision:
    """A decision of Echo's among candidates with these chances; ``item`` "" for none of them."""
    propensity = chances[item] if item else 1 - sum(chances.values())
    given = {"item_ref": item, "propensities": dict(chances), "propensity": propensity}
    return decision_of(echo, author, time, shown=bool(item), **(given | fields))


def placed(experiment: Experiment, author: Author, arm: str) -> dict[str, Any]:
    """The fields of a decision in an arm of an experiment that assigns by author."""
    policy = next(entry["policy"] for entry in experiment.design["arms"] if entry["name"] == arm)
    return {"experiment": experiment, "arm": arm, "unit": author.uid.hex, "policy": policy}
