"""echo_simulate: compare Echo in the simulator with arms that lack a part of it."""

from argparse import ArgumentParser
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from apps.common.commands import LabelhubCommand
from labelhub.core.echo.simulator import (
    CLICK_RATE,
    SURVEY_EVERY,
    SURVEY_SIZE,
    Settings,
    simulate,
)
from labelhub.core.errors import InvalidInput

#: What the simulator's arms do.
ARM_NAMES = {
    "echo": "Echo",
    "random": "asks about any feature",
    "random_shown": "asks about any shown feature",
    "no_asking": "does not ask",
    "no_learning": "learns nothing",
}
#: Options with a number: its default and the help.
NUMBERS: Mapping[str, tuple[float, str]] = {
    "features": (200, "number of features (200)"),
    "k": (10, "number of shown features (10)"),
    "seeds": (20, "number of worlds (20)"),
    "questions": (16_000, "questions per world (16000); they determine the number of messages"),
    "click-rate": (CLICK_RATE, "probability of a click if no feature helps (0.029)"),
    "helpfulness": (
        0.0, "share of offers that authors rate (0); Echo then also asks what mattered most",
    ),
    "first-seed": (0, "seed of the first world (0)"),
}  # fmt: skip
SWITCHES = {
    "spam": "a fifth of the authors answer and click at random",
    "drift": "five relevant features change halfway",
    "per-author": "authors differ in what they write",
}
#: With fewer worlds the figures vary too much.
FEW_SEEDS = 10
#: How often joblib tells the progress on stderr.
OFTEN = 10


class Command(LabelhubCommand):
    """``manage.py echo_simulate``."""

    help = "Simulate Echo and its alternatives; figures with intervals."
    needs_database = False

    def add_command_arguments(self, parser: ArgumentParser) -> None:
        """Add the options."""
        for name, (default, words) in NUMBERS.items():
            parser.add_argument(f"--{name}", type=type(default), default=default, help=words)
        for name, words in SWITCHES.items():
            parser.add_argument(f"--{name}", action="store_true", help=words)

    def run(self, options: dict[str, Any]) -> Mapping[str, Any]:
        """Simulate and print the figures."""
        questions = options["questions"]
        least, most = 80, 800_000
        if not least <= questions <= most:
            raise InvalidInput.at("questions", f"must be from {least} to {most}.")
        given = {name: options[name] for name in Settings.__dataclass_fields__ if name in options}
        settings = Settings(messages=-(-questions // SURVEY_SIZE) * SURVEY_EVERY, **given)
        seeds = {name: options[name] for name in ("seeds", "first_seed")}
        found = simulate(settings, **seeds, verbose=0 if self.as_json else OFTEN)
        self._tell(found)
        if seeds["seeds"] < FEW_SEEDS:
            self.say(
                f"{seeds['seeds']} worlds are too few for conclusions, as worlds differ a lot. "
                f"Use at least {FEW_SEEDS}."
            )
        return {**found, "settings": {**asdict(settings), **seeds}}

    def _tell(self, found: Mapping[str, Any]) -> None:
        named = {
            "Share of its questions until Echo reaches the final accuracy of random asking": found[
                "question_share"
            ],
            "Accuracy gained over random asking": found["accuracy_gain"],
        }
        for arm, figure in found["regret_ratio"].items():
            named[f"Regret against an arm that {ARM_NAMES[arm]}"] = figure
        for arm, figure in found["found"].items():
            named[f"Shown features that matter, {ARM_NAMES[arm]}"] = figure
        named["Expected calibration error (ECE) of the uncertainty"] = found["ece"]
        for name, figure in named.items():
            self.say(f"{name}: {figure_words(figure)}")


def figure_words(figure: Mapping[str, Any]) -> str:
    """A figure with its interval in words."""
    if figure["value"] is None:
        return "none: Echo never reached it in at least half of the worlds"
    if figure["low"] is None or figure["high"] is None:
        return f"{figure['value']:.3f} (n {figure['n']})"
    return f"{figure['value']:.3f} ({figure['low']:.3f} to {figure['high']:.3f}, n {figure['n']})"
