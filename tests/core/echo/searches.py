"""Searches for instructions played by a model that is made up, so that the truth is known."""

from collections.abc import Callable, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from labelhub.core.echo.examples import Example
from labelhub.core.echo.prediction import FeatureTask, PredictPlan
from labelhub.core.echo.prompt_search import Found, SearchPlan, search
from labelhub.core.llm.types import Call, Reply
from labelhub.core.prompts import PromptLibrary

_LIBRARY = PromptLibrary(Path(__file__).parents[3] / "prompts")
TASK = FeatureTask("mood", "Mood", "How they felt.", ("glad", "calm", "sad"))
PRESENT = "Look at how the author says that they felt when it happened."
#: What the made-up model proposes; which of them is better is up to the trial.
PROPOSED = tuple(
    f"Look at the {part} of the message and at what the author means by it."
    for part in ("beginning", "middle", "end", "tone", "verbs", "nouns", "length", "questions")
)
Answer = Callable[[Call], Reply]


class World(NamedTuple):
    """How a made-up model predicts.

    Args:
        seed: of all chance.
        base: share it predicts rightly.
        gains: what an instruction adds to it.
        own: share of predictions that depend on the instruction at all.
        by_author: how far authors differ in that share, to either side.
    """

    seed: int
    base: float = 0.55
    gains: tuple[tuple[str, float], ...] = ()
    own: float = 0.3
    by_author: float = 0.0


def plan(**more: Any) -> SearchPlan:
    """A plan with the prompts of the library."""
    predicting = PredictPlan(prompt=_LIBRARY.get("echo", "predict"), salt="s")
    known = {"instruct": _LIBRARY.get("echo", "instruct"), "predicting": predicting}
    return SearchPlan(**{**known, "present": PRESENT, **more})


def labels(count: int, authors: int, seed: int = 0) -> list[Example]:
    """Answers of so many authors in turn."""
    drawn = np.random.default_rng([seed, 7]).integers(0, 3, count)
    return [
        Example(
            f"message {number} of seed {seed}",
            TASK.values[value],
            author=f"a{seed}-{number % authors}",
        )
        for number, value in enumerate(drawn)
    ]


def model(world: World, known: Sequence[Example], proposed: Sequence[str] = PROPOSED) -> Answer:
    """Predicts rightly with the chance that the world says; the same for the same call."""
    by_text = {label.text: label for label in known}
    reply = "\n".join(f"Instruction: {text}" for text in proposed)
    gains = dict(world.gains)

    def answer(call: Call) -> Reply:
        if call.role == "instruct":
            return Reply(reply)
        label = by_text[call.text]
        system = call.messages[0].content
        hint = next((text for text in (PRESENT, *proposed) if text in system), "")
        chance = world.base + gains.get(hint, 0.0) + world.by_author * _lot(world, label.author, 2)
        shared = abs(_lot(world, call.text, 1)) < world.own
        draw = (_lot(world, call.text + (hint if shared else ""), 0) + 1) / 2
        others = [value for value in TASK.values if value != label.value]
        return Reply("", value=label.value if draw < chance else others[0])

    return answer


def _lot(world: World, name: str, what: int) -> float:
    """A number between -1 and 1, always the same for the same name."""
    digest = blake2b(f"{world.seed}/{what}/{name}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**63 - 1


def played(known: Sequence[Example], given: SearchPlan, answer: Answer) -> tuple[Found, list[Call]]:
    """What is found, and the calls that it took."""
    run, made = search(TASK, known, given), []
    try:
        calls = next(run)
        while True:
            made += calls
            calls = run.send([answer(call) for call in calls])
    except StopIteration as end:
        found: Found = end.value
        return found, made
