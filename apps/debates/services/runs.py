"""Starting, pausing, resuming and cancelling runs. Nothing here talks to a model."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import islice
from typing import Any

from django.db import transaction
from django.utils import timezone

from apps.accounts.models import User
from apps.common.audit import Action, differences, record
from apps.common.figures import usd
from apps.debates import events
from apps.debates.models import Debate, Experiment, Run, RunRole
from apps.debates.services.plans import RunPlan, checked_cast, selected_items
from apps.debates.services.preview import check_prices
from apps.debates.services.role_assignment import CastMember
from apps.llm.services import remember_prompt
from apps.projects.changes import Translator
from apps.projects.models import Guideline, LabelSchema, Project
from apps.projects.selectors import current_guideline, current_schema
from labelhub.core.debate import protocol
from labelhub.core.errors import Conflict, InvalidInput
from labelhub.core.phrases import Phrase


def spec_hash(
    plan: RunPlan, cast: Mapping[str, CastMember], schema: LabelSchema, guideline: Guideline | None
) -> str:
    """The hash of all that determines the calls of a run with the complete ``plan``."""
    spec = {
        "protocol": plan.protocol,
        "settings": dict(plan.settings),
        "params": dict(plan.params),
        "roles": {
            role: {
                "provider": member.model.provider.name,
                "model": member.model.name,
                "prompt": member.prompt.hash,
            }
            for role, member in cast.items()
        },
        "schema": schema.asked,
        "guideline": guideline.text if guideline else "",
    }
    return _hash(spec)


def plan_hash(
    plan: RunPlan, cast: Mapping[str, CastMember], schema: LabelSchema, guideline: Guideline | None
) -> str:
    """The hash of the complete ``plan`` without the budget, which may be raised."""
    asked = {
        "spec": spec_hash(plan, cast, schema, guideline),
        "models": {role: member.model.identity for role, member in cast.items()},
        "limit": plan.limit,
        "items": None if plan.item_ids is None else list(plan.item_ids),
        "only_unlabelled": plan.only_unlabelled,
        "replicates": plan.replicates,
        "reuse_answers": plan.reuse_answers,
        "trial": plan.trial,
    }
    return _hash(asked)


def _hash(content: Mapping[str, Any]) -> str:
    canonical = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


CHUNK = 2000


def start_run(
    *, project: Project, actor: User | None, plan: RunPlan, experiment: Experiment | None = None
) -> Run:
    """Store a run with all that determines its result, and a waiting debate per item.

    A worker starts it within seconds, or at once after ``tasks.launch_run``.

    Raises:
        InvalidInput: nothing is selected, or the plan cannot be run as it is.
    """
    plan = plan.complete()
    schema, guideline = current_schema(project), current_guideline(project)
    cast = checked_cast(plan, schema)
    if protocol(plan.protocol).trials_only and not plan.trial:
        raise InvalidInput(
            "protocol: '%(protocol)s' makes no labels; try it in an experiment.",
            protocol=plan.protocol,
        )
    if plan.budget_nanousd is not None:
        check_prices(role.model for role in cast.values())
    with transaction.atomic():
        # A change of labels takes the same lock and looks for runs, so one of the two waits.
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        if current_schema(project).pk != schema.pk:
            raise Conflict("The labels were changed just now. Start the run again.")
        run = Run.objects.create(
            project=project,
            protocol=plan.protocol,
            protocol_settings=dict(plan.settings),
            params=dict(plan.params),
            experiment=experiment,
            trial=plan.trial,
            reuse_answers=plan.reuse_answers,
            replicates=plan.replicates,
            schema=schema,
            guideline=guideline,
            spec_hash=spec_hash(plan, cast, schema, guideline),
            plan_hash=plan_hash(plan, cast, schema, guideline),
            budget_nanousd=plan.budget_nanousd,
            created_by=actor,
        )
        RunRole.objects.bulk_create(
            RunRole(
                run=run,
                role=role,
                model=member.model,
                prompt=remember_prompt(member.prompt),
                position=position,
            )
            for position, (role, member) in enumerate(cast.items())
        )
        if not _add_debates(
            run, selected_items(project, plan).values_list("pk", flat=True).iterator(CHUNK)
        ):
            if plan.only_unlabelled or plan.item_ids is not None:
                raise InvalidInput("No item matches the selection: there is nothing to label.")
            raise InvalidInput(
                "The project '%(slug)s' has no items yet: import some first.", slug=project.slug
            )
        record(Action.RUN_STARTED, run, name=run.protocol)
    return run


def pause_run(*, run: Run) -> Run:
    """Start no further calls; calls under way are finished and stored. A paused run that would
    resume automatically stays paused.

    Raises:
        Conflict: the run is not active and will not resume automatically.
    """
    _change(
        run,
        Run.objects.going() | Run.objects.filter(status=Run.Status.PAUSED, resume_at__isnull=False),
        Phrase("paused"),
        status=Run.Status.PAUSED,
        pause_code="user",
        message=Phrase("Paused by hand."),
        resume_at=None,
    )
    return run


def set_budget(*, run: Run, budget_nanousd: int | None) -> Run:
    """Change the budget, from the next slice on; None: no limit.

    Raises:
        InvalidInput: less than was spent already, or a price is unknown.
        Conflict: the run has ended.
    """
    if budget_nanousd is not None:
        check_prices(role.model for role in run.roles.select_related("model__provider"))
        if budget_nanousd < run.cost_nanousd:
            raise InvalidInput(
                "budget: %(spent)s is spent already; enter a larger amount.",
                spent=usd(run.cost_nanousd),
            )
    ended = [Run.Status.DONE, Run.Status.CANCELLED]
    _change(
        run, Run.objects.exclude(status__in=ended), Phrase("changed"), budget_nanousd=budget_nanousd
    )
    return run


def resume_run(*, run: Run) -> Run:
    """Resume a paused run, and try failed debates again, also those of a finished run. Attempts at
    calls start again, because the person who resumes it has checked the endpoint.

    Raises:
        Conflict: the run is active or cancelled, it is done without failed debates, or its labels
            were changed since.
    """
    if Translator.of(run.project_id).touches(run.schema.version):
        raise Conflict(
            "The labels have been changed since run %(pk)s (version %(version)s): start a new run.",
            pk=str(run.pk),
            version=str(run.schema.version),
        )
    with transaction.atomic():
        failed = Debate.objects.filter(run=run, status=Debate.Status.FAILED)
        again = failed.update(status=Debate.Status.WAITING, error="", finished_at=None)
        waiting = Debate.objects.filter(run=run, status=Debate.Status.WAITING)
        waiting.exclude(failed_tries={}).update(failed_tries={})
        allowed = [Run.Status.PAUSED, Run.Status.DONE] if again else [Run.Status.PAUSED]
        _change(
            run,
            Run.objects.filter(status__in=allowed),
            Phrase("resumed"),
            status=Run.Status.QUEUED,
            pause_code="",
            message="",
            resume_at=None,
            resumed_at=timezone.now(),
            faults=0,
            finished_at=None,
        )
    return run


def cancel_run(*, run: Run) -> Run:
    """End the run finally; its labels are kept.

    Raises:
        Conflict: it has already ended.
    """
    ended = [Run.Status.DONE, Run.Status.CANCELLED]
    _change(
        run,
        Run.objects.exclude(status__in=ended),
        Phrase("cancelled"),
        status=Run.Status.CANCELLED,
        pause_code="",
        message=Phrase("Cancelled by hand."),
        resume_at=None,
        finished_at=timezone.now(),
    )
    return run


def unfinished_runs() -> list[int]:
    """Ids of the runs that a worker should drive or close now. Resumes paused runs whose time has
    come."""
    now = timezone.now()
    Run.objects.filter(status=Run.Status.PAUSED, resume_at__lte=now).update(
        status=Run.Status.QUEUED, pause_code="", message="", resume_at=None, resumed_at=now
    )
    return list(Run.objects.going().order_by("pk").values_list("pk", flat=True))


def _add_debates(run: Run, item_ids: Iterator[int]) -> int:
    """Add a waiting debate per item and replicate, in the order of the items and in chunks."""
    count = 0
    while chunk := list(islice(item_ids, CHUNK)):
        rows = [
            Debate(run=run, item_id=item_id, replicate=replicate)
            for item_id in chunk
            for replicate in range(1, run.replicates + 1)
        ]
        Debate.objects.bulk_create(rows, batch_size=CHUNK)
        count += len(rows)
    return count


def _change(run: Run, allowed: Any, word: str, **fields: Any) -> None:
    """Change the run by one conditional update, so that only one of two requests succeeds."""
    before: dict[str, Any] = {"status": run.status, "budget_nanousd": run.budget_nanousd}
    with transaction.atomic():
        if not allowed.filter(pk=run.pk).update(**fields):
            run.refresh_from_db(fields=["status"])
            raise Conflict(
                "Run %(pk)s is %(status)s and cannot be %(word)s.",
                pk=str(run.pk),
                status=Phrase(run.status),
                word=word,
            )
        now = {name: str(fields[name]) for name in before if name in fields}
        changes = differences({name: str(was) for name, was in before.items()}, now)
        record(Action.RUN_CHANGED, run, name=run.protocol, changes=changes)
    run.refresh_from_db()
    # Notify other watchers now, because the worker may be busy with a call for minutes.
    transaction.on_commit(partial(events.announce_run, run.pk))


def find_interrupted_run(*, project: Project, plan: RunPlan) -> Run | None:
    """The newest unfinished run that a command started with the same plan, if there is one.

    Only the budget may differ, and it must not be spent yet. Without ``only_unlabelled``, the run
    must also have exactly the items that the plan selects now.

    Raises:
        InvalidInput: the plan cannot be run as it is.
    """
    plan = plan.complete()
    schema, guideline = current_schema(project), current_guideline(project)
    cast = checked_cast(plan, schema)
    alike = Run.objects.filter(
        project=project,
        plan_hash=plan_hash(plan, cast, schema, guideline),
        created_by=None,
        experiment=None,
    ).exclude(status__in=[Run.Status.DONE, Run.Status.CANCELLED])
    if plan.budget_nanousd is not None:
        alike = alike.filter(cost_nanousd__lte=plan.budget_nanousd)
    if plan.only_unlabelled:
        return alike.first()
    item_ids = set(selected_items(project, plan).values_list("pk", flat=True))
    for run in alike:
        first_pass = Debate.objects.filter(run=run, replicate=1).order_by()
        if set(first_pass.values_list("item_id", flat=True)) == item_ids:
            return run
    return None


def continue_run(*, run: Run, plan: RunPlan) -> Run:
    """Resume the interrupted run with the plan's budget, and try failed debates again.

    Raises:
        Conflict: a person paused it, or it has ended meanwhile.
        UnknownPrice: the plan has a budget, and a price is not known.
    """
    if run.budget_nanousd != plan.budget_nanousd:
        set_budget(run=run, budget_nanousd=plan.budget_nanousd)
    if run.status != Run.Status.PAUSED:
        return run
    if run.pause_code == "user":
        raise Conflict(
            "Run %(pk)s of the same plan was paused by a person: resume it on its page, or "
            "start another with --new.",
            pk=str(run.pk),
        )
    try:
        return resume_run(run=run)
    except Conflict:
        # A worker was faster: the run is active, as wanted.
        if run.going:
            return run
        raise
