"""Predicted against gold, on the command line."""

from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from apps.agreement.evaluation import evaluation_report
from apps.common.charts import TEXT_MATCHER
from apps.common.commands import LabelhubCommand
from apps.projects.selectors import find_project
from labelhub.core.agreement.figures import Figure
from labelhub.core.errors import InvalidInput


class Command(LabelhubCommand):
    help = "Compare a run (the newest by default) with gold."

    def add_command_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug")
        parser.add_argument(
            "--run", type=int, dest="run_id", help="run id; the newest run with labels by default"
        )
        parser.add_argument(
            "--annotator", type=int, dest="annotator_id", help="annotator id, instead of a run"
        )
        parser.add_argument("--replicate", type=int, default=1, help="which replicate of the run")

    def run(self, options: dict[str, Any]) -> Mapping[str, Any]:
        project = find_project(options["slug"])
        report = evaluation_report(
            project,
            run_id=options["run_id"],
            annotator_id=options["annotator_id"],
            replicate=options["replicate"],
        )
        source = report.compared.source
        if source is None:
            raise InvalidInput("Nothing is predicted in this project yet: run preannotate first.")
        if not report.compared.gold_total:
            raise InvalidInput(
                "This project has no gold yet: import a gold column or review items."
            )
        note = f" ({TEXT_MATCHER})" if source.offline else ""
        unanswered = len(report.compared.unanswered)
        self.say(
            f"{source.name}{note}: {report.evaluation.n} items compared, {unanswered} unanswered"
        )
        if report.compared.rejected:
            self.say(f"  {report.compared.rejected_words}")
        for name, shown in report.evaluation.overall.items():
            self.say(f"  {name:20} {_words(shown)}")
        for score in report.evaluation.labels:
            counts = score.counts
            self.say(
                f"  {score.label:20} P {_words(score.precision)}  R {_words(score.recall)}"
                f"  F1 {_words(score.f1)}\n"
                f"  {'':20} predicted yes: gold yes {counts.predicted_yes_gold_yes},"
                f" gold no {counts.predicted_yes_gold_no};"
                f" predicted no: gold yes {counts.predicted_no_gold_yes},"
                f" gold no {counts.predicted_no_gold_no}"
            )
        return report.to_json()


def _words(shown: Figure) -> str:
    if shown["value"] is None:
        return f"– ({shown['reason']})"
    if shown["low"] is None or shown["high"] is None:
        return f"{shown['value']:.3f}"
    return f"{shown['value']:.3f} [{shown['low']:.3f}, {shown['high']:.3f}]"
