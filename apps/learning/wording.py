"""What the figures of a model mean, in sentences; none says more than its interval does."""

from collections.abc import Mapping
from typing import Any

from apps.common.figures import share_words

DECISIVE = 0.9


def decisive(curve: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The target by which the order is judged."""
    return next((each for each in curve.get("targets", ()) if each["share"] == DECISIVE), None)


def saving_words(curve: Mapping[str, Any]) -> str:
    """What the simulation found, in one or two sentences."""
    if reason := curve.get("reason") or curve.get("verdict_reason"):
        return f"No simulation: {reason}." if curve.get("reason") else f"{_sentence(reason)}."
    target = decisive(curve)
    if target is None:
        return "No simulation yet."
    saved, goal = target["saved"], f"an accuracy of {share_words(target['accuracy'])}"
    ends = f"95 % interval {_whole(saved['low'])} to {_whole(saved['high'])}"
    needed = f"{target['learned']['value']:.0f} labels instead of {target['random']['value']:.0f}"
    match curve["verdict"]:
        case "saves":
            return (
                f"Its order saves labels here: {goal} took {needed}, "
                f"{_whole(saved['value'])} fewer ({ends})."
            )
        case "costs":
            return (
                f"Its order costs labels here: {goal} took {needed}, "
                f"{_whole(-saved['value'])} more ({ends} saved). Random order is better."
            )
        case _:
            return (
                f"No saving is shown: {goal} took {needed}, but the difference may as well be "
                f"chance ({ends} labels saved)."
            )


def quality_words(quality: Mapping[str, Any]) -> str:
    """Whether the model is better than reading nothing."""
    model, guess = quality["accuracy"], quality["majority"]["accuracy"]
    if model["low"] > guess["value"]:
        return f"It is better than always giving the most frequent answer.{_beside(quality)}"
    if model["high"] < guess["value"]:
        return "It is worse than always giving the most frequent answer: do not rely on it."
    return (
        "It is not shown to be better than always giving the most frequent answer. "
        "Do not rely on it: its doubt and its list of probable errors are mostly its own mistakes."
    )


def _beside(quality: Mapping[str, Any]) -> str:
    """And how it stands beside the debates, on the items that both answered."""
    llm = quality.get("llm") or {"n": 0}
    if not llm["n"]:
        return ""
    ours, theirs = llm["model_accuracy"], llm["accuracy"]
    rates = f"{share_words(theirs['value'])} against {share_words(ours['value'])}"
    if theirs["low"] > ours["high"]:
        return f" The debates are right more often ({rates} on the same items)."
    if ours["low"] > theirs["high"]:
        return f" The debates are right less often ({rates} on the same items)."
    return f" Beside the debates no difference is shown ({rates} on the same items)."


def is_better(quality: Mapping[str, Any]) -> bool:
    """Whether the model is shown to be better than guessing."""
    return bool(quality["accuracy"]["low"] > quality["majority"]["accuracy"]["value"])


def _whole(number: float) -> str:
    return f"{number:.0f}".replace("-", "−")


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]
