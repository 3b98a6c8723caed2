"""How far LLM, crowd, expert and author agree, on the command line."""

from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from apps.agreement.charts import sentence
from apps.agreement.report.sentences import sentences
from apps.agreement.report.services import agreement_report
from apps.agreement.report.slices import OTHERS, Slice, annotator_title, find_annotator_id
from apps.agreement.report.tables import (
    MeasureRow,
    coefficients,
    compared_kinds,
    confidence_rows,
    measures_against,
    tie_words,
)
from apps.agreement.report.truths import (
    applicable_tests,
    doubts,
    interval_methods,
    part_words,
    scope_words,
    short_name,
    truths_of,
)
from apps.common.commands import LabelhubCommand
from apps.common.figures import share_words
from apps.labels.models import Kind
from apps.projects.selectors import find_project
from labelhub.core.errors import InvalidInput

#: Options that are fields of a ``Slice`` as they are.
PLAIN = ("kind", "replicate", "label", "since", "until", "tag", "intervals")


def day(text: str) -> date:
    """A day such as 2026-11-01; messages about other texts call it by this function's name."""
    return date.fromisoformat(text)


class Command(LabelhubCommand):
    help = "Agreement within and between LLM, crowd, expert and author, and against gold."

    def add_command_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("--kind", default="", help=f"only {', '.join(Kind.values)}")
        parser.add_argument(
            "--annotator", default="", help="only this annotator, by number or name"
        )
        parser.add_argument("--run", type=int, dest="run_id", help="only this run of machines")
        parser.add_argument("--replicate", type=int, default=1, help="the replicate of the run")
        parser.add_argument("--label", default="", help="compare answers as this label or not")
        parser.add_argument("--since", type=day, help="first day, such as 2026-11-01")
        parser.add_argument("--until", type=day, help="last day")
        parser.add_argument("--tag", default="", help="only items with this tag, or key=value")
        parser.add_argument(
            "--intervals", choices=[OTHERS], default="", help="for other annotators like these"
        )

    def run(self, options: dict[str, Any]) -> Mapping[str, Any]:
        project, annotator = find_project(options["slug"]), options["annotator"]
        asked = Slice(
            annotator=find_annotator_id(project, str(annotator)) if annotator else None,
            run=options["run_id"],
            **{name: options[name] for name in PLAIN},
        )
        found = agreement_report(project, asked)
        if not found["sources"] and asked.partial:
            raise InvalidInput("This part of the ledger has no labels.")
        if not found["sources"]:
            raise InvalidInput("This project has no labels yet: import labels or run preannotate.")
        who = annotator_title(project, asked.annotator)
        if part := part_words(found, who):
            self.say(f"{part}: everything below is about this part of the labels only.\n")
        self.say("In short")
        for finding in sentences(found):
            self.say(f"  {finding.text}")
        self._say_kinds(found)
        self._say_repeats(found)
        self._say_truths(found)
        self._say_comparisons(found)
        self._say_machines(found)
        methods = "; ".join(interval_methods(found)) or "none here"
        self.say(f"\nIntervals are 95 %, {scope_words(found)}: {methods}.")
        for doubt in doubts(found):
            self.say(f"Some may be too narrow: {doubt}.")
        return found

    def _say_kinds(self, found: Mapping[str, Any]) -> None:
        self.say("\nWithin each kind")
        for kind, counts in found["sources"].items():
            self.say(
                f"  {short_name(found, kind)}: {_many(counts['annotators'], 'annotator')},"
                f" {_many(counts['labels'], 'label')},"
                f" {_many(counts['abstentions'], 'abstention')},"
                f" {_many(counts['rejections'], 'rejection')} without a label"
            )
        self._say_rows(found, coefficients(found).rows)
        pairs = [pair for pair in found["between"] if pair["level"] == "kind"]
        if pairs:
            self.say("\nBetween kinds")
        for pair in pairs:
            names = " and ".join(short_name(found, pair[side]) for side in "ab")
            share = sentence(pair["percent"], percent=True)
            self.say(f"  {names:24} {share}; Cohen's κ {sentence(pair['cohen_kappa'])}")

    def _say_repeats(self, found: Mapping[str, Any]) -> None:
        again = {kind: repeats for kind, repeats in found["intra"].items() if repeats["repeats"]}
        if again:
            self.say("\nThe same again: agreement of an annotator's own answers to an item")
        for kind, repeats in again.items():
            counts = ", ".join(
                (
                    _many(repeats["annotators"], "annotator"),
                    _many(repeats["items"], "item"),
                    _many(repeats["repeats"], "answer again", "answers again"),
                )
            )
            shown = sentence(repeats["percent"], percent=True)
            self.say(f"  {short_name(found, kind):8} {shown}; {counts}")

    def _say_truths(self, found: Mapping[str, Any]) -> None:
        for truth in truths_of(found):
            measures = measures_against(found, truth)
            self.say(f"\nAccuracy against {truth.name}")
            for column in measures.columns:
                own = f", {column.own:,} of these decisions its own" if column.own else ""
                self.say(f"  {short_name(found, column.kind)}: {column.items:,} items{own}")
            self._say_rows(found, measures.rows)
            if tied := tie_words(measures.columns):
                self.say(f"  For F1 and matrices: {tied}")

    def _say_rows(self, found: Mapping[str, Any], rows: Sequence[MeasureRow]) -> None:
        for row in rows:
            self.say(f"  {row.words}")
            for column, shown in row.cells:
                name = short_name(found, column.kind)
                self.say(f"    {name:8} {sentence(shown, percent=row.percent)}")

    def _say_comparisons(self, found: Mapping[str, Any]) -> None:
        for comparison in compared_kinds(found):
            self.say(f"\nDifferences in accuracy, by {comparison.truth.name}")
            for pair in comparison.pairs:
                self.say(
                    f"  {pair.words}: {pair.difference} points, n {pair.items:,}; discordant"
                    f" pairs {pair.only_better:,} and {pair.only_worse:,}; Holm-adjusted p {pair.p}"
                    f" ({'significant' if pair.settled else 'not significant'})"
                )
            self.say(f"  {comparison.overall} {'; '.join(comparison.methods)}.")
            for doubt in comparison.doubts:
                self.say(f"  Doubt: {doubt}.")

    def _say_machines(self, found: Mapping[str, Any]) -> None:
        tests = applicable_tests(found)
        if tests:
            self.say("\nMachines instead of people: the alternative annotator test")
        for name, test in tests.items():
            rate = test["winning_rate"]
            words = "too few labels" if rate is None else f"winning rate {share_words(rate)}"
            self.say(f"  {name}: {words} at ε {test['epsilon']:g}")
        for machine in confidence_rows(found):
            self.say(
                "  {name}: confidence {sure}, accuracy {right}; ECE {error} points, Brier {brier},"
                " n {n:,}".format(**machine)
            )


def _many(count: int, singular: str, more: str = "") -> str:
    return f"{count:,} {singular if count == 1 else more or f'{singular}s'}"
