"""What an answer to an item can be had for: one label of a kind, or a vote of several of them."""

from collections.abc import Iterator, Mapping
from typing import Any

from apps.agreement.charts import Offer
from apps.agreement.standing.truths import Report, Truth, short_name

Figure = Mapping[str, Any]


def offers(report: Report, truth: Truth, unit: str) -> list[Offer]:
    """Of every kind that can be measured by ``truth`` and whose costs are known.

    ``unit``: ``per_label`` or ``seconds``. A vote of three costs what three labels cost, and takes
    the time of three people, whoever works beside whom.
    """
    kinds = [kind for kind in truth.kinds if kind in report["cost"]]
    return [
        offer
        for kind in kinds
        if kind != "author" or truth.key == "against_gold"
        for offer in _of_kind(report, kind, truth.found[kind], unit)
    ]


def _of_kind(report: Report, kind: str, found: Mapping[str, Any], unit: str) -> Iterator[Offer]:
    name, one = short_name(report, kind), report["cost"][kind][unit]
    if not found["by_votes"]:
        yield Offer(name, kind, one, found["accuracy"])
    for votes in found["by_votes"]:
        many = votes["votes"]
        called = name if many == 1 else f"{name} × {many}"
        yield Offer(called, kind, _times(one, many), votes["accuracy"])


def _times(one: Figure, many: int) -> Figure:
    ends = ("value", "low", "high")
    known = {end: one[end] * many for end in ends if one.get(end) is not None}
    return {**one, **known}
