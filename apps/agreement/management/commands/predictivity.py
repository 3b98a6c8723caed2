"""``predictivity SLUG``: do third-party labels tell as much about an author as the author's own?"""

import time
from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandParser

from apps.agreement.models import Study
from apps.agreement.predictivity.planning import (
    USUAL_EXAMPLES,
    Estimate,
    StudyPlan,
    begun_words,
    estimate,
    plan_study,
)
from apps.agreement.predictivity.results import Result, result_of
from apps.agreement.predictivity.slices import run_study
from apps.agreement.predictivity.studies import get_study, start_study
from apps.agreement.predictivity.wording import percent
from apps.common.commands import LabelhubCommand
from apps.common.figures import money, read_budget
from apps.debates.services import SliceEnd
from apps.llm.selectors import default_model
from apps.llm.services import ensure_builtin, model_for_run, seed_from_environment
from apps.projects.models import Project
from apps.projects.selectors import find_project
from labelhub.core.agreement.predictivity import SOURCES
from labelhub.core.errors import InvalidInput, LabelhubError

NO_BUDGET = "none"
BUDGET = (
    "The most the study may cost. Left out: a study that is continued keeps its budget; "
    f"'{NO_BUDGET}': it has none any more."
)
#: How long to wait before looking again at a study that another worker drives, seconds.
LOOK_AGAIN = 1.0


class StudyStopped(LabelhubError):
    """``--wait`` ended before the study was done; the message says why."""

    code = "study_stopped"


class Command(LabelhubCommand):
    """Start a study of predictivity, or continue it; with ``--wait`` drive it to its end."""

    help = "Predict authors' answers from their other answers, labelled by each source in turn."

    def add_command_arguments(self, parser: CommandParser) -> None:
        """See ``--help``."""
        parser.add_argument("slug")
        parser.add_argument("--model", metavar="NAME", help="The model that predicts.")
        parser.add_argument(
            "--examples", metavar="0,1,3,5", help="How many other answers to show, up to 5."
        )
        parser.add_argument(
            "--sources",
            metavar="author,llm,…",
            help=f"Whose labels to show: {', '.join(SOURCES)}. Usually the author, chance, and who "
            "has labelled half of the answered items.",
        )
        parser.add_argument("--limit", type=int, help="Only N items, drawn by a fixed seed.")
        parser.add_argument("--budget", metavar="USD", help=BUDGET)
        parser.add_argument("--dry-run", action="store_true", help="Only say what it would take.")
        parser.add_argument("--wait", action="store_true", help="Return when the study is done.")

    def run(self, options: dict[str, Any]) -> Mapping[str, Any]:
        """Plan, say what it takes, start or continue, then perhaps wait."""
        project = find_project(options["slug"])
        plan = _plan(options)
        planned = plan_study(project, plan)
        expected = estimate(planned)
        self._say_estimate(expected, begun_words(planned, expected))
        if options["dry_run"]:
            return {"dry_run": True} | estimate_json(expected)
        study = start_study(project=project, actor=None, plan=plan, answers=planned.answers)
        if not options["wait"]:
            if study.going:
                self.say("A worker takes it up; see it on the project's page of predictivity.")
            return result_of(_told(project, study)).to_json()
        drive(study)
        result = result_of(_told(project, study))
        if study.status != Study.Status.DONE:
            words = f"Study {study.pk} is {study.status}: {study.message}"
            raise StudyStopped(f"{words} To go on, call the command again.", data=result.to_json())
        self._say_result(result)
        return result.to_json()

    def _say_estimate(self, expected: Estimate, begun: str) -> None:
        if begun:
            self.say(begun)
        self.say(
            f"{expected.tasks:,} predictions about {expected.items:,} items of"
            f" {expected.users:,} authors, {expected.calls:,} calls to make."
        )
        if expected.offline:
            self.say("The offline model matches words. It is not an LLM.")
        elif expected.cost_nanousd is None:
            self.say("Cost: unknown, the model has no price.")
        else:
            most = money(expected.worst_nanousd)
            self.say(f"Cost: about {money(expected.cost_nanousd)}, at most {most}.")

    def _say_result(self, result: Result) -> None:
        self.say(result.study.message)
        for each in result.scores.accuracies:
            number = "any number" if each.examples is None else str(each.examples)
            self.say(
                f"{each.source:8} {number:>10} examples: {percent(each.accuracy):>5} right,"
                f" {each.predictions:,} predictions of {each.users:,} authors"
            )
        self.say(result.sentence)


def drive(study: Study) -> None:
    """Drive slices until the study has ended, or wait for whoever else drives it."""
    while study.going:
        if run_study(study.pk) is SliceEnd.BUSY:
            time.sleep(LOOK_AGAIN)
        study.refresh_from_db()


def estimate_json(expected: Estimate) -> dict[str, Any]:
    """What ``--dry-run --json`` prints."""
    cost, worst = expected.cost_nanousd, expected.worst_nanousd
    return {
        "users": expected.users,
        "items": expected.items,
        "tasks": expected.tasks,
        "calls": expected.calls,
        "tokens_in": expected.tokens_in,
        "tokens_out": expected.tokens_out,
        "cost_usd": None if cost is None else cost / 1e9,
        "worst_usd": None if worst is None else worst / 1e9,
        "offline": expected.offline,
    }


def _told(project: Project, study: Study) -> Study:
    return get_study(project, study.pk) or study


def _plan(options: Mapping[str, Any]) -> StudyPlan:
    seed_from_environment()
    ensure_builtin()
    name, asked = options["model"], options["examples"]
    unlimited = options["budget"] == NO_BUDGET
    return StudyPlan(
        model=model_for_run(name.strip()) if name else default_model(),
        sources=tuple(_listed(options["sources"] or "")),
        examples=tuple(_numbers(asked)) if asked is not None else USUAL_EXAMPLES,
        limit=options["limit"],
        budget_nanousd=None if unlimited else read_budget(options["budget"]),
        unlimited=unlimited,
    )


def _numbers(text: str) -> list[int]:
    given = _listed(text)
    if not all(each.isascii() and each.isdecimal() and len(each) < 4 for each in given):
        raise InvalidInput(f"examples: '{text[:40]}' are no numbers, such as 0,1,3,5.")
    return [int(each) for each in given]


def _listed(text: str) -> list[str]:
    return [each.strip() for each in text.split(",") if each.strip()]
