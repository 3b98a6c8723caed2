"""``audit_table FILE``: what in a published table does not follow from the rest of it."""

import json
import sys
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from django.core.management import CommandError

from apps.agreement.table_audit.reading import Asked, read_bytes
from apps.agreement.table_audit.reports import Report, reports_of, to_json
from apps.agreement.table_audit.showing import headline, held_against, verdict
from apps.common.commands import LabelhubCommand
from labelhub.core.agreement.audit import Finding
from labelhub.core.errors import InvalidInput

#: A file of many tables may be larger than one table.
LARGEST_COLLECTION = 5_000_000
MOST_PAIRS_SAID = 3


class Command(LabelhubCommand):
    """See ``help``."""

    help = "Find what in a published table does not follow from the rest of it. Keeps nothing."
    needs_database = False

    def add_command_arguments(self, parser: ArgumentParser) -> None:
        """See ``--help``."""
        parser.add_argument(
            "file",
            metavar="FILE",
            help="CSV, TSV, Markdown, LaTeX or JSON; - reads what is piped in. A JSON object may"
            " hold many tables: each is audited.",
        )
        parser.add_argument("--items", type=int, metavar="N", help="How many items a row is about.")
        parser.add_argument("--positives", type=int, metavar="N", help="How many are positive.")
        parser.add_argument("--calls", type=int, metavar="K", help="Calls behind a D-rate.")
        parser.add_argument(
            "--runs", metavar="FILE", help="The single runs that this one averages."
        )
        parser.add_argument(
            "--strict", action="store_true", help="End with 1 if something cannot be right."
        )

    def run(self, options: dict[str, Any]) -> Mapping[str, Any]:
        """Say every finding, one a line; nothing found is no promise that all is right."""
        if options["file"] == options["runs"] == "-":
            raise InvalidInput("runs: only one of the two tables can be piped in.")
        reports = reports_of(_asked(options))
        for report in reports:
            self._say_report(report)
        result = to_json(reports)
        if options["strict"] and result["faults"]:
            self._refuse(result)
        return result

    def _refuse(self, result: Mapping[str, Any]) -> None:
        if self.as_json:
            self.stdout.write(json.dumps(result))
        faults = result["faults"]
        raise CommandError(f"{faults} thing{'s' if faults > 1 else ''} cannot be right.")

    def _say_report(self, report: Report) -> None:
        name = f"{report.name}: " if report.name else ""
        against = f" Held against the runs in {report.runs}." if report.runs else ""
        self.say(f"{name}{headline(report.found)}{against}")
        stand = verdict(report.found)
        if stand:
            self.say(f"  {stand}")
        held = held_against(report.found)
        if held and not report.found.findings:
            self.say(f"  {held}")
        for finding in report.found.findings:
            self.say(f"  {finding.severity:5}  {finding.code:24}  {_one_line(finding)}")
        for line in (*_t_lines(report), *_p_lines(report)):
            self.say(f"  {line}")


def _asked(options: Mapping[str, Any]) -> Asked:
    return Asked(
        read_bytes(_read(options["file"], "file"), most=LARGEST_COLLECTION),
        options["items"],
        options["positives"],
        options["calls"],
        read_bytes(_read(options["runs"], "runs"), "runs") if options["runs"] else None,
    )


def _read(name: str, field: str) -> bytes:
    try:
        if name == "-":
            return sys.stdin.buffer.read(LARGEST_COLLECTION + 1)
        with Path(name).open("rb") as file:
            return file.read(LARGEST_COLLECTION + 1)
    except OSError as error:
        raise InvalidInput.at(field, f"'{name}' cannot be read: {error.strerror}.") from error


def _one_line(finding: Finding) -> str:
    return " ".join(finding.sentence.split())


def _t_lines(report: Report) -> list[str]:
    return [
        f"t      {each['row']}: stated {each['stated']:g}, paired {_number(each['paired'])},"
        f" Welch {_number(each['welch'])}"
        for each in report.t_values
    ]


def _p_lines(report: Report) -> list[str]:
    return [
        f"p      {each['row']}: stated {each['stated']:g}, difference {each['difference']} of up to"
        f" {each['items']:,}: exact {_pairs(each['exact'])}; chi-square"
        f" {_pairs(each['chi_square'])}; corrected {_pairs(each['corrected'])}"
        for each in report.p_values
    ]


def _number(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.4g}"


def _pairs(pairs: Sequence[tuple[int, int]]) -> str:
    said = " ".join(f"({b}, {c})" for b, c in pairs[:MOST_PAIRS_SAID])
    more = len(pairs) - MOST_PAIRS_SAID
    return f"{said} and {more} more" if more > 0 else said or "none"
