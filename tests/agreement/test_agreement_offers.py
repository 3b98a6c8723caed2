"""What an answer costs: single labels, and votes of several at several times the price."""

from typing import Any

from apps.agreement.report.charts import offers
from apps.agreement.report.truths import Truth


def figure(value: float) -> dict[str, Any]:
    return {"value": value, "low": value / 2, "high": value * 2, "n": 20, "method": "m"}


def found(**by_votes: float) -> dict[str, Any]:
    votes = [
        {"votes": int(name[1:]), "accuracy": figure(value)} for name, value in by_votes.items()
    ]
    return {
        "accuracy": figure(0.5),
        "majority_accuracy": figure(0.9),
        "by_votes": votes,
        "own_decisions": 0,
    }


def told(kinds: dict[str, Any], cost: dict[str, Any]) -> list[tuple[str, float, float]]:
    truth = Truth("gold", "gold", kinds)
    report = {"cost": cost, "offline": {"llm": ["matcher"]}}
    return [
        (offer.name, offer.cost["value"], offer.accuracy["value"])
        for offer in offers(report, truth)
    ]


def test_a_vote_costs_as_many_labels() -> None:
    crowd = found(v1=0.5, v3=0.7)

    assert told({"crowd": crowd}, {"crowd": {"per_label": figure(0.02)}}) == [
        ("Crowd", 0.02, 0.5),
        ("Crowd × 3", 0.06, 0.7),
    ]


def test_where_no_vote_can_be_told_a_single_label_stands() -> None:
    assert told({"llm": found()}, {"llm": {"per_label": figure(0.01)}}) == [
        ("Text matcher (demo)", 0.01, 0.5)
    ]


def test_the_interval_of_a_price_grows_with_it() -> None:
    truth = Truth("gold", "gold", {"crowd": found(v1=0.5, v3=0.7)})
    report = {"cost": {"crowd": {"per_label": figure(0.02)}}, "offline": {}}

    _, vote = offers(report, truth)

    assert (vote.cost["low"], vote.cost["high"]) == (0.03, 0.12)


def test_kinds_whose_costs_nobody_knows_are_left_out() -> None:
    unknown = {"per_label": {"value": None, "reason": "not_recorded"}}
    assert told({"crowd": found(v1=0.5, v3=0.7)}, {"crowd": unknown}) == []
