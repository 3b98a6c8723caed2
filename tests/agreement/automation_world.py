"""Projects whose debates err as a test wants, and people who label what is asked of them."""

from collections.abc import Callable, Sequence

from django.utils import timezone

from apps.accounts.models import User
from apps.accounts.roles import Role
from apps.agreement.automation.guarantee import settle_items, switch_on
from apps.agreement.automation.promise import Terms
from apps.agreement.automation.sample import draw_sample
from apps.agreement.models import Guarantee
from apps.debates.models import Debate, Run
from apps.labels.blindness import ONLY_AUDITED
from apps.labels.models import Annotator, ItemState, Label
from apps.labels.services import (
    DebateResult,
    NewGold,
    import_gold,
    record_debate_results,
    record_label,
)
from apps.projects.models import Item, Project
from apps.projects.selectors import current_schema
from tests.debates.routing_world import run_of
from tests.factories.labels import draft, machine, person, queued_items
from tests.factories.projects import ProjectFactory, member

#: Certainties of every ten items, in turn.
UNCERTAIN = (0.0, 0.0, 0.0, 0.1, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8)


def all_right(item: Item) -> str:
    """What people say where every debate was right."""
    del item
    return "good"


def all_wrong(item: Item) -> str:
    """What people say where none was."""
    del item
    return "bad"


def debated_project(items: int = 200, **fields: str) -> Project:
    """Items that were all labelled good by one run, more or less certainly."""
    project = ProjectFactory.create(**fields)
    run_of(project, spec_hash="a" * 64)
    debate_more(project, items)
    return project


def debate_more(project: Project, items: int, *, uncertainty: float | None = None) -> list[Item]:
    """More items, labelled good by the project's first run and routed by its rule."""
    made, now = list(queued_items(project, items)), timezone.now()
    run = Run.objects.filter(project=project).earliest("pk")
    doubts = [
        UNCERTAIN[number % len(UNCERTAIN)] if uncertainty is None else uncertainty
        for number in range(items)
    ]
    results = [
        DebateResult(
            item_id=item.pk,
            draft=draft(item, machine(project), "good", action=Label.Action.PROPOSED),
            uncertainty=doubt,
        )
        for item, doubt in zip(made, doubts, strict=True)
    ]
    labels = record_debate_results(project, results)
    Debate.objects.bulk_create(
        Debate(
            run=run, item=item, status=Debate.Status.DONE, label=label, value="good",
            uncertainty=doubt, finished_at=now,
        )
        for item, doubt, label in zip(made, doubts, labels, strict=True)
    )  # fmt: skip
    return made


def decide(items: Sequence[Item], say: Callable[[Item], str] = all_right) -> None:
    """Gold that came with the items."""
    for item in items:
        schema = current_schema(item.project)
        import_gold(item.project, [NewGold(item_id=item.pk, schema=schema, value=say(item))])


def answer(
    project: Project, who: Annotator, say: Callable[[Item], str] = all_right, most: int = 10_000
) -> int:
    """A person labels, blind, what is audited and not answered; how many items."""
    states = ItemState.objects.filter(project=project, reasons=ONLY_AUDITED, labels_by_people=0)
    found = list(states.select_related("item").order_by("item_id")[:most])
    for state in found:
        record_label(draft(state.item, who, say(state.item)))
    return len(found)


def drawn(project: Project, *, labels_per_item: int = 1) -> Guarantee:
    """A sample for at most 10 % wrong, in the queue."""
    terms = Terms(0.1, labels_per_item=labels_per_item)
    made = draw_sample(project, actor=member(project, Role.MANAGER), terms=terms)
    settle_items(made)
    return made


def asked(project: Project) -> set[int]:
    """Items that the queue asks somebody about as an audit."""
    states = ItemState.objects.filter(project=project, queued=True, reasons=ONLY_AUDITED)
    return set(states.values_list("item_id", flat=True))


def promised(
    project: Project, *, target: float = 0.1, say: Callable[[Item], str] = all_right
) -> tuple[Guarantee, User, Annotator]:
    """A promise in force, by a sample that was labelled blind; its manager, and who labelled."""
    manager, who = member(project, Role.MANAGER), person(project)
    made = draw_sample(project, actor=manager, terms=Terms(target))
    settle_items(made)
    answer(project, who, say)
    found = switch_on(made, actor=manager)
    settle_items(found)
    return found, manager, who
