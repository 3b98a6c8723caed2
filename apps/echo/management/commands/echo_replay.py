"""echo_replay: what Echo's choice of questions wins on real texts whose labels are known."""

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
    AHEAD: "Echo's curve rises: the more answers, the more often it is right.",
    LEVEL: "Echo's curve is flat: whether more answers help cannot be told from chance.",
    BEHIND: "Echo's curve falls: the more answers, the less often it is right.",
    UNTOLD: "One order tells no difference from chance.",
}
_OVER_COMMONEST = {
    AHEAD: "It ends ahead of naming the commonest label.",
    LEVEL: "It ends level with naming the commonest label.",
    BEHIND: "It ends behind naming the commonest label.",
}
_CHOICE = {
    AHEAD: "Echo's choice of questions is ahead of {arm}.",
    LEVEL: "Echo's choice of questions and {arm} cannot be told apart.",
    BEHIND: "Echo's choice of questions is behind {arm}.",
}


class Command(LabelhubCommand):
    """``manage.py echo_replay``."""

    help = "Replay texts with known labels: Echo's questions against random and margin sampling."
    needs_database = False

    def add_command_arguments(self, parser: ArgumentParser) -> None:
        """The file, what in it is a text and a label, and how it is replayed."""
        parser.add_argument("file", help="JSON lines, or CSV with a header; UTF-8")
        parser.add_argument("--text", default="text", help="field with the text (text)")
        parser.add_argument(
            "--label",
            default="label",
            help="field with the author's label (label); in JSON also a path with dots, where '*' "
            "is the mean over a list: ratings.*.0",
        )
        parser.add_argument(
            "--bands", type=int, default=0, help="cut numeric labels into so many bands"
        )
        parser.add_argument("--feature", help="name of the feature (the label's field)")
        parser.add_argument("--orders", type=int, default=20, help="number of random orders (20)")
        parser.add_argument(
            "--share", type=float, default=SHARE, help="maximum share of texts asked about (0.33)"
        )
        parser.add_argument("--curves", help="write the learning curves to this file (.svg)")

    def run(self, options: dict[str, Any]) -> Mapping[str, Any]:
        """Replay, tell the figures and what they come to, draw the curves."""
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
            f"({counts['repeated']} repeated ones left out). Of {counts['streamed']} "
            f"{counts['asked']} are asked about, {counts['held_out']} are held out."
        )
        self.say("Right about the texts held out, at the end:")
        for arm, figure in found["accuracy"].items():
            self.say(f"  {REPLAYED.arms[arm]}: {figure_words(figure)}")
        self.say(f"  naming the commonest label: {figure_words(found['commonest'])}")
        self.say("Mean height of the curve, Echo less another:")
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
        reason = getattr(error, "strerror", None) or "no such name"
        raise InvalidInput(f"{name} cannot be read: {reason}.") from None


def _found_words(findings: Mapping[str, Any]) -> list[str]:
    """What the figures come to, in sentences."""
    if findings["learnt"] == UNTOLD:
        return [_LEARNT[UNTOLD]]
    gains = findings["area_gain"].items()
    return [
        _LEARNT[findings["learnt"]],
        _OVER_COMMONEST[findings["over_commonest"]],
        *(_CHOICE[finding].format(arm=REPLAYED.arms[arm]) for arm, finding in gains),
    ]
