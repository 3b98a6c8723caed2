"""Going on with the run that an interrupted command had begun, so that nothing is paid twice."""

from apps.debates.models import Debate, Run
from apps.debates.services.hashes import plan_hash
from apps.debates.services.plans import RunPlan, checked_cast, selected_items
from apps.debates.services.runs import resume_run, set_budget
from apps.projects.models import Project
from apps.projects.selectors import current_guideline, current_schema
from labelhub.core.errors import Conflict


def interrupted_run(*, project: Project, plan: RunPlan) -> Run | None:
    """The newest unfinished run that a command began by this very plan, if there is one.

    The same in all but the budget, which must not be spent already. Where all items are wanted, or
    the first so many, they must be the same ones still.

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
    return next((run for run in alike if plan.only_unlabelled or _covers(run, plan)), None)


def go_on(*, run: Run, plan: RunPlan) -> Run:
    """Take the interrupted run up again, with the plan's budget; what failed is tried again.

    Raises:
        Conflict: somebody paused it by hand, or it has ended meanwhile.
        UnknownPrice: the plan has a budget, and a price is not known.
    """
    if run.budget_nanousd != plan.budget_nanousd:
        set_budget(run=run, budget_nanousd=plan.budget_nanousd)
    if run.status != Run.Status.PAUSED:
        return run
    if run.pause_code == "user":
        raise Conflict(
            f"Run {run.pk} of the same plan was paused by hand: resume it on its page, or start "
            "another with --new."
        )
    try:
        return resume_run(run=run)
    except Conflict:
        # A worker was quicker: it is going, which is all that is wanted.
        if run.going:
            return run
        raise


def _covers(run: Run, plan: RunPlan) -> bool:
    begun = Debate.objects.filter(run=run, replicate=1).order_by().values_list("item_id", flat=True)
    return set(begun) == set(selected_items(run.project, plan).values_list("pk", flat=True))
