"""How far LLM, crowd, expert and author agree, on the command line."""

from argparse import ArgumentParser
from collections.abc import Mapping
from datetime import date
from typing import Any

from apps.agreement.reporting import agreement_report
from apps.agreement.sheets.slicing import Slice
from apps.common.commands import LabelhubCommand
from apps.labels.models import Kind
from apps.projects.selectors import find_project
from labelhub.core.agreement.figures import Figure
from labelhub.core.errors import InvalidInput


class Command(LabelhubCommand):
    """``manage.py agreement SLUG``."""

    help = "Agreement within and between LLM, crowd, expert and author, and against gold."

    def add_command_arguments(self, parser: ArgumentParser) -> None:
        """Which project, and which part of its ledger."""
        parser.add_argument("slug")
        parser.add_argument("--kind", default="", help=f"only {', '.join(Kind.values)}")
        parser.add_argument("--annotator", type=int, help="only this annotator, by id")
        parser.add_argument("--run", type=int, dest="run_id", help="of machines only this run")
        parser.add_argument("--replicate", type=int, default=1, help="which replicate of the run")
        parser.add_argument("--label", default="", help="every answer is this label or not")
        parser.add_argument("--since", help="first day, such as 2026-11-01")
        parser.add_argument("--until", help="last day")
        parser.add_argument("--tag", default="", help="only items with this tag, or key=value")

    def run(self, options: dict[str, Any]) -> Mapping[str, Any]:
        """Print the report."""
        project = find_project(options["slug"])
        asked = Slice(
            kind=options["kind"],
            annotator=options["annotator"],
            run=options["run_id"],
            replicate=options["replicate"],
            label=options["label"],
            since=_day("since", options["since"]),
            until=_day("until", options["until"]),
            tag=options["tag"],
        )
        found = agreement_report(project, asked)
        if not found["sources"] and asked.given:
            raise InvalidInput("No label is in this part of the ledger.")
        if not found["sources"]:
            raise InvalidInput("This project has no labels yet: import labels or run preannotate.")
        self._say_kinds(found)
        self._say_truth("gold", found["against_gold"])
        self._say_truth("the author", found["against_author"])
        self._say_machines(found["alt_test"])
        return found

    def _say_kinds(self, found: Mapping[str, Any]) -> None:
        for kind, counts in found["sources"].items():
            self.say(
                f"{kind}: {counts['annotators']:,} annotators, {counts['labels']:,} labels,"
                f" {counts['abstentions']:,} abstentions"
            )
            for name, shown in found["within"][kind].items():
                self.say(f"  {name:20} {_words(shown)}")
        for pair in found["between"]:
            if pair["level"] == "kind":
                self.say(f"{pair['a']} and {pair['b']}: {pair['items']:,} items")
                self.say(f"  {'percent':20} {_words(pair['percent'])}")
                self.say(f"  {'cohen_kappa':20} {_words(pair['cohen_kappa'])}")

    def _say_truth(self, truth: str, kinds: Mapping[str, Any]) -> None:
        for kind, told in kinds.items():
            self.say(f"{kind} against {truth}: {told['items']:,} items")
            for name in ("accuracy", "majority_accuracy", "dawid_skene_accuracy"):
                if name in told:
                    self.say(f"  {name:20} {_words(told[name])}")

    def _say_machines(self, machines: Mapping[str, Any]) -> None:
        for name, told in machines.items():
            rate = told["winning_rate"]
            words = "too few labels" if rate is None else f"beats {rate:.0%} of the people"
            self.say(f"{name} instead of people: {words} at epsilon {told['epsilon']:g}")


def _words(shown: Figure) -> str:
    if shown["value"] is None:
        return f"– ({shown['reason']})"
    if shown["low"] is None or shown["high"] is None:
        return f"{shown['value']:.3f}"
    return f"{shown['value']:.3f} [{shown['low']:.3f}, {shown['high']:.3f}]"


def _day(name: str, given: str | None) -> date | None:
    if not given:
        return None
    try:
        return date.fromisoformat(given)
    except ValueError:
        raise InvalidInput(f"{name}: '{given[:40]}' is no day, such as 2026-11-01.") from None
