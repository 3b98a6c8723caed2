"""echo_replay: compare Echo's choice of questions with others on texts with known labels."""

from argparse import ArgumentParser
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from apps.common.commands import LabelhubCommand
from apps.echo.learning_curves import REPLAYED, curves_file, draw_curves, figure_words, progress
from labelhub.core.echo.replay.labelled_texts import MOST_BYTES, Columns, read_labelled
from labelhub.core.echo.replay.report import AHEAD, BEHIND, LEVEL, SHARE, UNTOLD, replay
from labelhub.core.errors import InvalidInput

_LEARNT = {
    AHEAD: "Echo's accuracy rises with the number of answers.",
    LEVEL: "Echo's accuracy does not change significantly with the number of answers.",
    BEHIND: "Echo's accuracy falls with the number of answers.",
    UNTOLD: "One order is not enough to test for significance.",
}
_OVER_COMMONEST = {
    AHEAD: "At the end it is better than predicting the most frequent label.",
    LEVEL: "At the end it does not differ significantly from predicting the most frequent label.",
    BEHIND: "At the end it is worse than predicting the most frequent label.",
}
_CHOICE = {
    AHEAD: "Echo's choice of questions is better than {arm}.",
    LEVEL: "Echo's choice of questions does not differ significantly from {arm}.",
    BEHIND: "Echo's choice of questions is worse than {arm}.",
}


class Command(LabelhubCommand):
    """``manage.py echo_replay``."""

    help = "Replay texts with known labels; compare Echo with random asking and margin sampling."
    needs_database = False

    def add_command_arguments(self, parser: ArgumentParser) -> None:
        """Add the options."""
        parser.add_argument("file", help="JSON lines, or CSV with a header; UTF-8")
        parser.add_argument("--text", default="text", help="field with the text (text)")
        parser.add_argument(
            "--label",
            default="label",
            help="field with the author's label (label); in JSON also a path with dots, where '*' "
            "is the mean over a list: ratings.*.0",
        )
        parser.add_argument(
            "--bands", type=int, default=0, help="number of bands into which numeric labels are cut"
        )
        parser.add_argument("--feature", help="name of the feature (the label's field)")
        parser.add_argument("--orders", type=int, default=20, help="number of random orders (20)")
        parser.add_argument(
            "--share", type=float, default=SHARE, help="maximum share of texts asked about (0.33)"
        )
        parser.add_argument("--curves", help="write the learning curves to this file (.svg)")

    def run(self, options: dict[str, Any]) -> Mapping[str, Any]:
        """Replay, print the figures and conclusions, and draw the curves."""
        columns = Columns(options["text"], options["label"], options["bands"])
        target = curves_file(options["curves"])
        data = read_labelled(_content(options["file"]), columns)
        found = replay(data, options["orders"], options["share"], report=progress(self.say))
        feature = options["feature"] or columns.label
        if target is not None:
            target.write_text(draw_curves(found["curves"], REPLAYED), "utf-8")
            self.say(f"Learning curves: {target}")
        self._tell(feature, found)
        asked = {name: options[name] for name in ("text", "label", "bands", "orders", "share")}
        return {"feature": feature, "settings": asked, **found}

    def _tell(self, feature: str, found: Mapping[str, Any]) -> None:
        counts = found["counts"]
        self.say(
            f"{feature}: {counts['texts']} texts with {len(found['values'])} labels "
            f"({counts['repeated']} duplicates left out). Of {counts['streamed']} "
            f"{counts['asked']} are asked about; {counts['held_out']} are held out."
        )
        self.say("Final accuracy on held-out texts:")
        for arm, figure in found["accuracy"].items():
            self.say(f"  {REPLAYED.arms[arm]}: {figure_words(figure)}")
        self.say(f"  most frequent label: {figure_words(found['commonest'])}")
        self.say("Difference of the mean over the curve, Echo minus:")
        for arm, figure in found["area_gain"].items():
            self.say(f"  {REPLAYED.arms[arm]}: {figure_words(figure)}")
        self.say(f"Calibration error of the uncertainty: {figure_words(found['ece']['echo'])}, "
                 f"all orders together {found['ece_pooled']['echo']:.3f}")  # fmt: skip
        for words in _found_words(found["findings"]):
            self.say(words)


def _content(name: str) -> bytes:
    try:
        with Path(name).open("rb") as file:
            return file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "invalid name"
        raise InvalidInput(f"{name} cannot be read: {reason}.") from None


def _found_words(findings: Mapping[str, Any]) -> list[str]:
    """The conclusions in sentences."""
    if findings["learnt"] == UNTOLD:
        return [_LEARNT[UNTOLD]]
    gains = findings["area_gain"].items()
    return [
        _LEARNT[findings["learnt"]],
        _OVER_COMMONEST[findings["over_commonest"]],
        *(_CHOICE[finding].format(arm=REPLAYED.arms[arm]) for arm, finding in gains),
    ]
