"""echo_simulate: compare Echo in the simulator with arms that lack a part of it."""

from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from apps.common.commands import LabelhubCommand
from apps.echo.learning_curves import ARM_NAMES, curves_file, draw_curves, figure_words, progress
from labelhub.core.echo.simulator import (
    CLICK_RATE,
    SURVEY_EVERY,
    SURVEY_SIZE,
    Settings,
    simulate,
)
from labelhub.core.errors import InvalidInput

#: With fewer worlds the figures vary too much.
FEW_SEEDS = 10


class Command(LabelhubCommand):
    """``manage.py echo_simulate``."""

    help = "Simulate Echo and its alternatives; figures with intervals."
    needs_database = False

    def add_command_arguments(self, parser: ArgumentParser) -> None:
        """Add the options."""
        parser.add_argument("--features", type=int, default=200, help="number of features (200)")
        parser.add_argument("--k", type=int, default=10, help="number of shown features (10)")
        parser.add_argument("--seeds", type=int, default=20, help="number of worlds (20)")
        parser.add_argument(
            "--questions",
            type=int,
            default=16_000,
            help="questions per world (16000); they determine the number of messages",
        )
        parser.add_argument(
            "--spam", action="store_true", help="a fifth of the authors answer and click at random"
        )
        parser.add_argument(
            "--drift", action="store_true", help="five relevant features change halfway"
        )
        parser.add_argument(
            "--per-author", action="store_true", help="authors differ in what they write"
        )
        parser.add_argument(
            "--click-rate",
            type=float,
            default=CLICK_RATE,
            help="probability of a click if no feature helps (0.029)",
        )
        parser.add_argument(
            "--helpfulness",
            type=float,
            default=0.0,
            help="share of offers that authors rate (0); Echo then also asks what mattered most",
        )
        parser.add_argument("--first-seed", type=int, default=0, help="seed of the first world (0)")
        parser.add_argument("--curves", help="write the learning curves to this file (.svg)")

    def run(self, options: dict[str, Any]) -> Mapping[str, Any]:
        """Simulate, print the figures and draw the curves."""
        questions = options["questions"]
        least, most = 80, 800_000
        if not least <= questions <= most:
            raise InvalidInput.at("questions", f"must be from {least} to {most}.")
        settings = Settings(
            features=options["features"],
            k=options["k"],
            messages=-(-questions // SURVEY_SIZE) * SURVEY_EVERY,
            spam=options["spam"],
            drift=options["drift"],
            per_author=options["per_author"],
            click_rate=options["click_rate"],
            helpfulness=options["helpfulness"],
        )
        target = curves_file(options["curves"])
        found = simulate(
            settings, options["seeds"], options["first_seed"], report=progress(self.say)
        )
        points = found.pop("curves")
        if target is not None:
            target.write_text(draw_curves(points), "utf-8")
            self.say(f"Learning curves: {target}")
        self._tell(found, options["seeds"])
        seeds = {name: options[name] for name in ("seeds", "first_seed")}
        asked = {name: getattr(settings, name) for name in Settings.__dataclass_fields__}
        return {**found, "settings": {**asked, **seeds}, "curves": points}

    def _tell(self, found: Mapping[str, Any], seeds: int) -> None:
        share = "Share of its questions until Echo reaches the final accuracy of random asking"
        reached = "none: Echo never reached it in at least half of the worlds"
        if found["question_share"]["value"] is not None:
            reached = figure_words(found["question_share"])
        self.say(f"{share}: {reached}")
        self.say(f"Accuracy gained over random asking: {figure_words(found['accuracy_gain'])}")
        for name, figure in found["regret_ratio"].items():
            self.say(f"Regret against an arm that {ARM_NAMES[name]}: {figure_words(figure)}")
        for name, figure in found["found"].items():
            self.say(f"Shown features that matter, {ARM_NAMES[name]}: {figure_words(figure)}")
        self.say(
            f"Expected calibration error (ECE) of the uncertainty: {figure_words(found['ece'])}"
        )
        if seeds < FEW_SEEDS:
            self.say(
                f"{seeds} worlds are too few for conclusions, as worlds differ a lot. "
                f"Use at least {FEW_SEEDS}."
            )
