"""Finding the run that an interrupted command had begun, so that nothing is paid twice."""

from apps.debates.models import Debate, Run
from apps.debates.services.plans import RunPlan, checked_cast, selected_items
from apps.debates.services.runs import spec_hash
from apps.projects.models import Project
from apps.projects.selectors import current_guideline, current_schema


def interrupted_run(*, project: Project, plan: RunPlan) -> Run | None:
    """The newest run of the very same plan that has not ended, if there is one.

    The same: what its models are asked, its budget, its passes, and that it covers just the items
    selected now (where only unlabelled ones are wanted: at least those).

    Raises:
        InvalidInput: the plan cannot be run as it is.
    """
    plan = plan.complete()
    schema, guideline = current_schema(project), current_guideline(project)
    alike = Run.objects.filter(
        project=project,
        status__in=[Run.Status.QUEUED, Run.Status.RUNNING, Run.Status.PAUSED],
        spec_hash=spec_hash(plan, checked_cast(plan, schema), schema, guideline),
        budget_nanousd=plan.budget_nanousd,
        replicates=plan.replicates,
        reuse_answers=plan.reuse_answers,
        trial=plan.trial,
        experiment=None,
    )
    return next((run for run in alike if _covers(run, project, plan)), None)


def _covers(run: Run, project: Project, plan: RunPlan) -> bool:
    begun = set(
        Debate.objects.filter(run=run, replicate=1).order_by().values_list("item_id", flat=True)
    )
    wanted = set(selected_items(project, plan).values_list("pk", flat=True))
    return bool(wanted) and (wanted <= begun if plan.only_unlabelled else wanted == begun)
