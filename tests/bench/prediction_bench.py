"""What asking a language model for a message's features costs: calls, and tokens in, by prompt.

    python tests/bench/prediction_bench.py [--answers 500] [--tokens 300] [--features 4]
                                           [--json FILE]

The features of the shopping library are asked about one message: in the interview's own words (as
where Echo is off), by Echo before any author has answered, and by Echo with so many answers about
each, as many of the nearest as fit in ``--tokens``. The calls are one round of a message's way in
each case, answered at once. Tokens are estimated as budgets are (``labelhub.core.llm.prices``).
Then how long the look-up takes that comes before these calls, in milliseconds of processor time.
The last line is the same as JSON.
"""

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from labelhub.core.echo.prediction import Example, ExampleIndex, MessageContext, predict_call
from labelhub.core.interview.calls import (
    ROLES,
    prediction_turn,
    signs_of,
    value_schema,
)
from labelhub.core.interview.features import Feature, starter_library
from labelhub.core.interview.pipeline import SPARE, AuthorMessage, InterviewPlan
from labelhub.core.llm.prices import estimate_usage
from labelhub.core.llm.types import Call
from labelhub.core.prompts import PromptLibrary

LIBRARY = PromptLibrary(Path(__file__).resolve().parents[2] / "prompts")
TEXT = "I need a tent for two, it must not cost too much, what would you buy?"
WORDS = (TEXT + " which lamp is bright enough for reading at night I am new to this").split()
#: Questions after one message, as a new site has it.
QUESTIONS = 3
#: Examples in a prompt at most.
MOST = 4


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="What predictions cost.")
    for name, usual in (("answers", 500), ("tokens", 300), ("features", 4)):
        parser.add_argument(f"--{name}", type=int, default=usual)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    measures = measured(given.answers, given.tokens, given.features)
    for name, figures in measures.items():
        print(f"{name:>32}: " + ", ".join(f"{key} {value}" for key, value in figures.items()))
    print(json.dumps(measures))
    if given.json:
        given.json.write_text(json.dumps(measures, indent=2))


def measured(answers: int, tokens: int, most: int) -> dict[str, dict[str, Any]]:
    """Calls and tokens of each way to ask, and the time that looking up takes."""
    features = list(starter_library()["shopping"])
    prompts = {role: LIBRARY.get("interview", role) for role in ROLES}
    plan = InterviewPlan(features=tuple(features), prompts=prompts, salt="s")
    message = AuthorMessage(TEXT, "en")
    own = [prediction_turn(message, plan, feature) for feature in features[: QUESTIONS + SPARE]]
    draws = np.random.default_rng(1)
    indexes = {
        feature.key: ExampleIndex(_examples(feature, answers, draws)) for feature in features[:most]
    }
    begin = time.process_time()
    shown = {key: index.nearest(TEXT, most=MOST, tokens=tokens) for key, index in indexes.items()}
    looked = time.process_time() - begin
    prompt = LIBRARY.get("echo", "predict")
    bare, full = (
        [
            predict_call(
                feature.key,
                value_schema(feature),
                MessageContext(TEXT),
                prompt,
                "s",
                signs=signs_of(feature),
                examples=found.get(feature.key, ()),
            )
            for feature in features[:most]
        ]
        for found in ({}, shown)
    )
    return {
        "in the interview's own words": _told(own),
        "by Echo, without answers": _told(bare),
        "by Echo, with the nearest": _told(full),
        "looking up": {"ms": round(looked * 1000, 2), "examples": sum(map(len, shown.values()))},
    }


def _told(calls: list[Call]) -> dict[str, Any]:
    tokens = [estimate_usage(call.messages, "").tokens_in for call in calls]
    return {"calls": len(calls), "tokens": sum(tokens), "each": round(sum(tokens) / len(tokens))}


def _examples(feature: Feature, count: int, draws: np.random.Generator) -> list[Example]:
    values = feature.values or ("light", "quiet", "waterproof")
    return [
        Example(" ".join(draws.choice(WORDS, 25)), str(draws.choice(values)), author=str(index))
        for index in range(count)
    ]


if __name__ == "__main__":
    main()
