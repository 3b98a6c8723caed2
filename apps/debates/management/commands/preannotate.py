"""``preannotate SLUG --protocol P``: label a project's items by debates of models."""

import time
from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandParser

from apps.common.commands import LabelhubCommand
from apps.common.figures import duration, money, read_budget
from apps.debates import services
from apps.debates.models import Run
from apps.debates.selectors import RunProgress, progress
from apps.debates.services import Preview, RunPlan, SliceEnd
from apps.llm.models import ModelSpec
from apps.llm.selectors import default_models
from apps.llm.services import ensure_builtin, model_for_run, seed_from_environment
from apps.projects.models import Project
from apps.projects.selectors import find_project
from labelhub.core.debate import LABELLING
from labelhub.core.errors import InvalidInput, LabelhubError

#: Seconds between two looks at a run that another worker drives.
LOOK_AGAIN = 1.0
ENDED = (Run.Status.DONE, Run.Status.PAUSED, Run.Status.CANCELLED)


class RunStopped(LabelhubError):
    """``--wait`` ended before the run was done; the message says why."""

    code = "run_stopped"


class Command(LabelhubCommand):
    """Start a run; with ``--wait`` drive it to its end."""

    help = "Label a project's items by debates of models."

    def add_command_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("--protocol", required=True, help=", ".join(LABELLING))
        parser.add_argument(
            "--model",
            action="append",
            default=[],
            metavar="[ROLE=]NAME",
            help="Model of a role, or of all other roles; may be repeated: "
            "annotators of a vote or discussion take several models in turn.",
        )
        parser.add_argument(
            "--set",
            action="append",
            default=[],
            metavar="NAME=VALUE",
            help="Setting of the protocol, such as judges=5; may be repeated.",
        )
        parser.add_argument("--limit", type=int, help="Only the first N items.")
        parser.add_argument("--only-unlabelled", action="store_true", help="Skip labelled items.")
        parser.add_argument("--replicates", type=int, default=1, help="Passes per item.")
        parser.add_argument("--budget", metavar="USD", help="Maximum cost of the run.")
        parser.add_argument(
            "--fresh", action="store_true", help="Do not reuse answers of earlier runs."
        )
        parser.add_argument(
            "--new",
            action="store_true",
            help="Start another run, even if --wait finds an unfinished one with the same plan.",
        )
        parser.add_argument("--dry-run", action="store_true", help="Only show calls and cost.")
        parser.add_argument("--wait", action="store_true", help="Return when the run is done.")

    def run(self, options: dict[str, Any]) -> Mapping[str, Any]:
        """Plan, then preview or start, then perhaps wait."""
        project = find_project(options["slug"])
        plan = _plan(options, project)
        if options["dry_run"]:
            return self._preview(project, plan)
        again = options["wait"] and not options["new"]
        begun = services.find_interrupted_run(project=project, plan=plan) if again else None
        run = self._go_on(begun, plan) if begun else self._start(project, plan)
        if not options["wait"]:
            self.say("A worker will start it soon. The project's page of runs shows its progress.")
            return report(run)
        drive(run)
        result = report(run) | {"continued": begun is not None}
        if run.status != Run.Status.DONE:
            words = f"Run {run.pk} is {run.status}: {run.message}"
            if run.status == Run.Status.PAUSED and run.pause_code != "user":
                words += " To continue, run the command again."
            raise RunStopped(words, data=result)
        if result["failed"] == result["items"] * run.replicates:
            last = run.debates.order_by("-finished_at").values_list("error", flat=True).first()
            raise RunStopped(
                f"Run {run.pk} labelled nothing: every debate failed, the last one: {last}",
                data=result,
            )
        self.say(run.message)
        cost = result["cost_usd"]
        self.say(f"Cost: {'unknown, a price is missing' if cost is None else money(cost * 1e9)}.")
        return result

    def _start(self, project: Project, plan: RunPlan) -> Run:
        run = services.start_run(project=project, actor=None, plan=plan)
        for warning in services.warnings_of(plan):
            self.say(f"Note: {warning}")
        self.say(f"Run {run.pk} is recorded.")
        return run

    def _go_on(self, run: Run, plan: RunPlan) -> Run:
        """Continue the run of an earlier call of the same command, whose answers are paid."""
        state = f"{run.status}: {run.message}" if run.message else run.status
        run = services.continue_run(run=run, plan=plan)
        self.say(f"Continuing run {run.pk} of the same plan ({state}); --new starts another.")
        return run

    def _preview(self, project: Project, plan: RunPlan) -> Mapping[str, Any]:
        estimate = services.preview(project=project, plan=plan)
        calls = f"{estimate.calls:,}"
        if estimate.calls_most > estimate.calls:
            calls += f" to {estimate.calls_most:,}"
        self.say(f"{estimate.items} items, {calls} calls.")
        self.say(f"About {estimate.tokens_in:,} tokens in and {estimate.tokens_out:,} out.")
        if estimate.seconds is not None:
            self.say(
                f"About {duration(estimate.seconds)}, judging by recent calls of these models."
            )
        if estimate.cost_nanousd is None:
            self.say(f"Cost: unknown, there is no price for {', '.join(estimate.unpriced)}.")
        else:
            least, most = money(estimate.cost_nanousd), money(estimate.worst_nanousd)
            self.say(f"Cost: about {least}, at most {most}.")
        return preview_json(estimate)


def drive(run: Run) -> None:
    """Drive slices until the run has ended, or wait for the worker that drives it."""
    while run.status not in ENDED:
        if services.run_slice(run.pk) is SliceEnd.BUSY:
            time.sleep(LOOK_AGAIN)
        run.refresh_from_db()


def report(run: Run) -> dict[str, Any]:
    """The output of ``--json`` for a run."""
    run.refresh_from_db()
    now: RunProgress = progress(run)
    offline = all(role.model.offline for role in run.roles.select_related("model__provider"))
    return {
        "run": run.pk,
        "uid": str(run.uid),
        "status": run.status,
        "protocol": run.protocol,
        "items": now.total // run.replicates,
        "replicates": run.replicates,
        "labelled": now.done,
        "unparsed": now.unparsed,
        "failed": now.failed,
        "waiting": now.waiting,
        "turns": now.turns,
        "tokens_in": now.tokens_in,
        "tokens_out": now.tokens_out,
        "cost_usd": now.cost_usd,
        "offline": offline,
        "message": run.message,
    }


def preview_json(estimate: Preview) -> dict[str, Any]:
    """The output of ``--dry-run --json``."""
    return {
        "dry_run": True,
        "items": estimate.items,
        "calls": estimate.calls,
        "calls_most": estimate.calls_most,
        "tokens_in": estimate.tokens_in,
        "tokens_out": estimate.tokens_out,
        "cost_usd": _dollars(estimate.cost_nanousd),
        "worst_usd": _dollars(estimate.worst_nanousd),
        "seconds": estimate.seconds,
        "unpriced": list(estimate.unpriced),
        "offline": estimate.offline,
    }


def _plan(options: Mapping[str, Any], project: Project) -> RunPlan:
    seed_from_environment()
    ensure_builtin()
    by_role, others = _models(options["model"], project)
    protocol = options["protocol"]
    settings = services.with_annotator_count(protocol, others, _settings(options["set"]))
    return RunPlan(
        protocol=protocol,
        models=services.models_for_roles(
            protocol, by_role, others or default_models(project), settings
        ),
        settings=settings,
        limit=options["limit"],
        only_unlabelled=options["only_unlabelled"],
        replicates=options["replicates"],
        budget_nanousd=read_budget(options["budget"]),
        reuse_answers=not options["fresh"],
    )


def _models(given: list[str], project: Project) -> tuple[dict[str, ModelSpec], list[ModelSpec]]:
    """``role=NAME`` by role, and the bare NAMEs for all other roles."""
    by_role: dict[str, ModelSpec] = {}
    others = []
    for argument in given:
        role, equals, name = argument.partition("=")
        if equals:
            by_role[role.strip()] = model_for_run(name.strip(), project)
        else:
            others.append(model_for_run(argument.strip(), project))
    return by_role, others


def _settings(given: list[str]) -> dict[str, str]:
    settings = {}
    for argument in given:
        name, equals, value = argument.partition("=")
        if not equals:
            raise InvalidInput(f"set: '{argument}' is not NAME=VALUE, such as judges=5.")
        settings[name.strip()] = value.strip()
    return settings


def _dollars(nanousd: int | None) -> float | None:
    return None if nanousd is None else nanousd / 1e9
