"""``paper_table 000.T3 FILE``: a table of one of the papers, made again from the user's file."""

import csv
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from apps.agreement.papers import TABLES, paper_table
from apps.agreement.papers.answers import Answers, answers_of
from apps.agreement.papers.asked import Asked
from apps.agreement.papers.bringing import Brought, Choice, bring, project_of
from apps.agreement.papers.kinds import PaperTable, aspect_of
from apps.agreement.papers.layout import Table, csv_rows, text_lines
from apps.agreement.papers.options import read_asked, read_choice
from apps.agreement.papers.running import Bill, Needed, bill_of, by_setup, finish, needed
from apps.common.commands import LabelhubCommand
from apps.common.figures import money, read_budget
from apps.debates.models import Run
from labelhub.core.errors import InvalidInput
from labelhub.core.schema import Task

OFFLINE = "Answered by the offline text matcher, which is not an LLM: {}."


class Command(LabelhubCommand):
    """See ``help``; what each table needs and costs is in docs/papers.md."""

    help = "Make a table of the papers again, from a file with gold labels."

    def add_command_arguments(self, parser: ArgumentParser) -> None:
        """See ``--help``."""
        parser.add_argument("table", help=", ".join(TABLES))
        parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
        _add_models(parser)
        _add_reading(parser)
        _add_running(parser)

    def run(self, options: dict[str, Any]) -> Mapping[str, Any]:
        """Bring the files, see what is missing, run it, print the table."""
        wanted = paper_table(options["table"])
        asked = read_asked(wanted, options)
        setups = wanted.setups(asked)  # what is asked for in vain is refused before any import
        files = list(_files(wanted, asked, options))
        for brought in files:
            _check_task(wanted, asked, brought)
        passes = asked.replicates or wanted.replicates
        runs = [needed(brought, setup, passes) for brought in files for setup in setups]
        bill = bill_of(_each_once(runs))
        self._say_bill(wanted, files, bill)
        if options["dry_run"]:
            return {"table": wanted.code, "dry_run": True, **bill.to_json()}
        _refuse_unasked_cost(bill, options)
        done = list(finish(_each_once(runs), read_budget(options["budget"]), self.say))
        answers = [_answers(brought, done) for brought in files]
        table = wanted.rows(asked, answers)
        return self._tell(wanted, _with_sources(table, setups), (files, done), options["csv"])

    def _say_bill(self, wanted: PaperTable, files: Sequence[Brought], bill: Bill) -> None:
        items = ", ".join(
            f"{len(each.item_ids):,} of {each.title} (project {each.project.slug})"
            for each in files
        )
        self.say(f"{wanted.code}: {bill.runs} run{'' if bill.runs == 1 else 's'}; items: {items}.")
        if bill.reused:
            self.say(f"{bill.reused} of them are there already and cost nothing.")
        if bill.calls:
            calls = f"{bill.calls:,}"
            most = f" to {bill.calls_most:,}" if bill.calls_most > bill.calls else ""
            self.say(f"Calls: {calls}{most}. Cost: {_cost(bill)}.")

    def _tell(
        self,
        wanted: PaperTable,
        table: Table,
        made: tuple[Sequence[Brought], Sequence[tuple[Needed, Run]]],
        target: Path | None,
    ) -> Mapping[str, Any]:
        files, done = made
        self.say("")
        self.say(f"{wanted.code}  {wanted.title}")
        for line in text_lines(table):
            self.say(line)
        if target is not None:
            _write_csv(target, table)
            self.say(f"Written to {target}.")
        spent = sum(run.cost_nanousd for run in {run.pk: run for _, run in done}.values())
        return {
            "table": wanted.code,
            "title": wanted.title,
            **table.to_json(),
            "projects": {each.title: each.project.slug for each in files},
            "runs": [run.pk for _, run in done],
            "cost_usd": None if any(run.unpriced_turns for _, run in done) else spent / 1e9,
        }


def _add_models(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--model",
        action="append",
        default=[],
        metavar="[ROLE=]NAME",
        help="A model, or one for a role; may be given several times, also for the same role.",
    )
    parser.add_argument(
        "--group",
        action="append",
        default=[],
        metavar="A,B,C",
        help="Models that work together; may be given several times.",
    )
    parser.add_argument("--aspect", default="", help="The one label that 000.T2, T3, T5 are about.")
    parser.add_argument("--replicates", type=int, help="Passes; 5 for 000, else 1.")
    parser.add_argument("--judges", type=int, default=5, help="1, 3 or 5, and as many single LLMs.")
    parser.add_argument("--precedents", metavar="0,1,…", help="For each label: 0 to 3.")
    parser.add_argument("--theta", type=float, default=0.5, help="Ambiguous up to this D_rate.")
    parser.add_argument("--rounds", type=int, default=2, help="Of discussion, 1 to 5.")


def _add_reading(parser: ArgumentParser) -> None:
    parser.add_argument("--project", default="", metavar="SLUG", help="This project, or its name.")
    parser.add_argument("--task", choices=[str(task) for task in Task], default="")
    parser.add_argument("--labels", default="", metavar="A,B,C", help="By default the file's own.")
    parser.add_argument("--schema", type=Path, help="JSON file: {task, question, labels}.")
    parser.add_argument("--guideline", type=Path, help="Text file for the annotators.")
    parser.add_argument("--text-column", default="", metavar="C[,C]", help="Several are joined.")
    parser.add_argument("--id-column", default="")
    parser.add_argument("--gold-column", default="", metavar="C", help="Or C.D, within an object.")


def _add_running(parser: ArgumentParser) -> None:
    parser.add_argument("--limit", type=int, help="So many items of each file, always the same.")
    parser.add_argument("--budget", metavar="USD", help="The most that all runs may cost.")
    parser.add_argument("--dry-run", action="store_true", help="Only say calls and cost.")
    parser.add_argument("--yes", action="store_true", help="Start although it costs something.")
    parser.add_argument("--csv", type=Path, metavar="OUT", help="Write the table there too.")


def _files(wanted: PaperTable, asked: Asked, options: Mapping[str, Any]) -> Iterator[Brought]:
    paths, slug = options["files"], options["project"]
    if len({path.stem for path in paths}) < len(paths):
        raise InvalidInput("file: two files have the same name; columns could not be told apart.")
    if slug and len(paths) > 1:
        raise InvalidInput("project: with several files each has a project of its own.")
    if not paths and not slug:
        raise InvalidInput("file: name a file with gold labels, or --project SLUG.")
    if not paths:
        yield project_of(slug, asked.limit)
    choice = read_choice(wanted, asked, options) if paths else Choice()
    for path in paths:
        yield bring(path, choice, asked.limit)


def _check_task(wanted: PaperTable, asked: Asked, brought: Brought) -> None:
    schema = brought.labels.parsed
    if schema.task not in wanted.tasks:
        raise InvalidInput(
            f"{wanted.code} is for questions of the tasks {', '.join(wanted.tasks)}; those of "
            f"{brought.title} are '{schema.task}'."
        )
    if wanted.one_label:
        aspect_of(asked, schema)


def _each_once(runs: Sequence[Needed]) -> list[Needed]:
    return list({(each.brought.project.pk, each.setup.key): each for each in runs}.values())


def _refuse_unasked_cost(bill: Bill, options: Mapping[str, Any]) -> None:
    """What costs something is started only by ``--yes``; unknown prices have been told."""
    if bill.worst_nanousd and not options["yes"]:
        raise InvalidInput(f"This costs {_cost(bill)}: add --yes to start it, or --limit N first.")


def _cost(bill: Bill) -> str:
    if bill.cost_nanousd is None or bill.worst_nanousd is None:
        return f"unknown, there is no price for {', '.join(bill.unpriced)}"
    if not bill.worst_nanousd:
        return "nothing"
    return f"about {money(bill.cost_nanousd)}, at most {money(bill.worst_nanousd)}"


def _answers(brought: Brought, done: Sequence[tuple[Needed, Run]]) -> Answers:
    return answers_of(brought.title, brought.labels, brought.item_ids, by_setup(done, brought))


def _with_sources(table: Table, setups: Sequence[Any]) -> Table:
    """The table with a note on what is not a language model."""
    models = {model.pk: model for setup in setups for model in setup.models.values()}
    offline = [model.name for model in models.values() if model.offline]
    notes = [OFFLINE.format(", ".join(offline))] if offline else []
    return Table(table.columns, table.rows, [*table.notes, *notes])


def _write_csv(target: Path, table: Table) -> None:
    try:
        with target.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(csv_rows(table))
    except OSError as error:
        raise InvalidInput(f"csv: {target} cannot be written ({error.strerror}).") from None
