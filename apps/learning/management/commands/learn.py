"""learn SLUG: train a model on the project's gold now and show its quality."""

from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from apps.common.commands import LabelhubCommand
from apps.common.figures import draw_figure
from apps.learning.models import TrainedModel
from apps.learning.report import report
from apps.learning.selectors import learning_state
from apps.learning.services import run_training, start_training, switch_learning
from apps.projects.selectors import find_project
from labelhub.core.errors import Conflict


class Command(LabelhubCommand):
    help = "Switch learning on, train a model on the project's gold and show its quality."

    def add_command_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug")

    def run(self, options: dict[str, Any]) -> Mapping[str, Any]:
        """Train now in this process, unless a worker is training.

        Raises:
            LabelhubError: there is too little gold, or it cannot be learnt.
        """
        project = find_project(options["slug"])
        switch_learning(project=project, on=True, actor=None)
        model = start_training(project=project, send=False)
        run_training(model.pk)
        model.refresh_from_db()
        if model.unfinished:
            raise Conflict(f"A worker is training version {model.version}; try again later.")
        if model.status != TrainedModel.Status.DONE:
            raise Conflict(
                f"Version {model.version}: {model.message or model.get_status_display()}"
            )
        reported = report(learning_state(project))
        self._tell(reported["model"])
        return reported

    def _tell(self, model: Mapping[str, Any]) -> None:
        self.say(f"Version {model['version']}, trained on {model['examples']:,} gold labels.")
        quality = model["quality"]
        figures = [("Accuracy", quality["accuracy"]), ("Macro F1", quality["macro_f1"])]
        figures.append(("Most frequent answer", quality["majority"]["accuracy"]))
        if quality["llm"]["n"]:
            figures.append(("Debates", quality["llm"]["accuracy"]))
        for name, figure in figures:
            drawn = draw_figure(figure, percent=name != "Macro F1")
            self.say(f"{name}: {drawn.value} ({drawn.low} to {drawn.high}, n {drawn.n})")
        self.say(model["quality_in_words"])
        self.say(model["simulation_in_words"])
        self.say(f"{model['labels_written']:,} labels written.")
