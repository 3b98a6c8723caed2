"""To whom an item may go: to everybody, to one kind of people, to those it was given to."""

from collections.abc import Collection, Iterable

from apps.labels.models import MACHINES, Assignment, Gold, ItemState, Label
from apps.labels.services.facts import Facts
from labelhub.core.schema import value_key

#: Decisions of the crowd and of single experts, which a machine that is sure may bring into doubt.
DISPUTABLE = (Gold.Basis.REVIEW, Gold.Basis.AGREEMENT)


def is_disputed(above: float | None, state: ItemState, fact: Facts, gold: Gold | None) -> bool:
    """Whether a machine that is at least ``above`` sure contradicts what reviewers decided."""
    if above is None or gold is None or gold.value is None or gold.basis not in DISPUTABLE:
        return False
    decided = value_key(gold.value)
    return any(
        label.value is not None
        and value_key(label.value) != decided
        and _sureness(label, state) >= above
        for label in fact.labels
        if label.annotator.kind in MACHINES
    )


def _sureness(label: Label, state: ItemState) -> float:
    """What the machine says of its certainty; of a debate that states none, what it shows."""
    if label.confidence is not None:
        return label.confidence
    if label.pk == state.suggestion_id and "uncertainty" in state.signals:
        return 1.0 - float(state.signals["uncertainty"])
    return 0.0


def audience_of(state: ItemState, fact: Facts) -> str:
    """Who may be offered the item: what is in conflict goes to experts, and where all places that
    are left are kept for people it was given to, to those alone."""
    if state.stage == ItemState.Stage.CONFLICT or state.disputed:
        return ItemState.Audience.EXPERT
    if state.kept and state.kept >= state.wanted - len(fact.by_people):
        return ItemState.Audience.NAMED
    if fact.rejections and state.assigned_kind == ItemState.Audience.CROWD:
        return ""  # perhaps nobody of the crowd knows the answer: experts may take it as well
    return state.assigned_kind


def still_asked(state: ItemState, fact: Facts) -> list[int]:
    """Those of its assignees who have neither labelled an item that waits for labels nor left it
    to others by rejecting the suggestion."""
    said = {label.annotator.user_id for label in (*fact.by_people, *fact.rejections)}
    return [user for user in state.assignees if state.queued and user not in said]


def keep_assignments(items: Iterable[tuple[ItemState, Facts]]) -> None:
    """Open and close what people were given by name, as the ledger now says."""
    for state, fact in items:
        if state.assignees:
            _keep(state.item_id, still_asked(state, fact))


def _keep(item_id: int, asked: Collection[int]) -> None:
    rows = Assignment.objects.filter(item=item_id)
    rows.filter(user__in=asked, open=False).update(open=True)
    rows.filter(open=True).exclude(user__in=asked).update(open=False)
