"""Gold: whether the labels of an item decide it, and the decision to append."""

from collections import Counter
from collections.abc import Mapping, Sequence

from apps.labels.models import Gold, ItemState, Kind, Label
from apps.labels.services.item_ledger import ItemLedger
from labelhub.core.schema import value_key


def append_decisions(
    overlap: int, states: Mapping[int, ItemState], ledgers: Mapping[int, ItemLedger]
) -> None:
    """Append the decisions that follow from the items' labels."""
    fresh = []
    for item_id, state in states.items():
        ledger = ledgers[item_id]
        decision = next_gold(overlap, ledger, state.required_here)
        if decision is not None:
            decision.item_id = item_id
            ledger.gold = decision
            fresh.append(decision)
    Gold.objects.bulk_create(fresh)


def next_gold(overlap: int, ledger: ItemLedger, here: int = 1) -> Gold | None:
    """The gold row to append, or None if the current one stays.

    ``here``: how many labels people must have given here before they decide.
    """
    now = ledger.gold
    if now and not now.withdrawn and now.basis == Gold.Basis.IMPORTED:
        return None
    # The author knows what they meant: their label outranks all others.
    if ledger.by_author is not None:
        wanted: Gold | None = _gold_from([ledger.by_author], Gold.Basis.AUTHOR)
    else:
        imported = all(label.action == Label.Action.IMPORTED for label in ledger.labels)
        wanted = None if imported else _gold_by_people(overlap, ledger.by_people, here)
    if wanted is None:
        if now is None or now.withdrawn:
            return None
        # A decision that was imported without the labels behind it stays.
        ours = Label.objects.filter(item=now.item_id).values_list("uid", flat=True)
        if {str(uid) for uid in ours}.isdisjoint(now.evidence):
            return None
        return Gold(
            schema_id=now.schema_id, withdrawn=True, basis=Gold.Basis.WITHDRAWN, supersedes=now
        )
    if now and not now.withdrawn and (now.value, now.evidence) == (wanted.value, wanted.evidence):
        return None
    wanted.supersedes = now
    return wanted


def is_unclear(ledger: ItemLedger) -> bool:
    """Whether an expert's last ruling is that the item is unclear, and the author does not decide
    it."""
    if all(label.role != Label.Role.UNCLEAR for label in ledger.labels):
        return False
    ruling = _settling_label([label for label in ledger.by_people if _counts_for_gold(label)])
    return ruling is not None and ruling.value is None and ledger.by_author is None


def _gold_by_people(overlap: int, labels: Sequence[Label], required_here: int) -> Gold | None:
    """The decision by people, in this order: an expert's ruling (none if it is "unclear"); a strict
    majority of all labels, abstentions included; the last expert beyond the overlap.

    Imported labels alone decide nothing: they hold up no expert and break no tie. Labels that a
    crowd worker gave unasked do not count, or anybody could undo decisions; nor do answers to gold
    questions."""
    labels = [label for label in labels if _counts_for_gold(label)]
    here = [label for label in labels if label.action != Label.Action.IMPORTED]
    if len(labels) < overlap or not here:
        return None
    settled = _settling_label(labels)
    if settled is not None:
        unclear = settled.value is None
        return None if unclear else _gold_from([settled], Gold.Basis.ADJUDICATION)
    if len(here) < required_here:
        return None
    deciding = [label for label in labels[overlap:] if _may_adjudicate(label)][-1:]
    agreeing = _majority(labels)
    if deciding and not _majority([label for label in labels if label not in deciding]):
        return _gold_from(deciding, Gold.Basis.ADJUDICATION)
    if agreeing:
        return _gold_from(agreeing, Gold.Basis.REVIEW if len(labels) == 1 else Gold.Basis.AGREEMENT)
    # The only person who labelled here is an expert; all other labels were imported.
    if len(here) == 1 and _may_adjudicate(here[0]) and len(labels) > overlap:
        return _gold_from(here, Gold.Basis.ADJUDICATION)
    return None


def _may_adjudicate(label: Label) -> bool:
    """Whether the label is a value that an expert gave here; imported ones do not count."""
    return _is_asked_expert(label) and label.value is not None


def _is_asked_expert(label: Label) -> bool:
    return label.annotator.kind == Kind.EXPERT and label.action != Label.Action.IMPORTED


def _settling_label(labels: Sequence[Label]) -> Label | None:
    """The newest label by which an expert settled the item, if any."""
    for label in reversed(labels):
        adjudicates = label.role == Label.Role.ADJUDICATION and label.value is not None
        if (adjudicates or label.role == Label.Role.UNCLEAR) and _is_asked_expert(label):
            return label
    return None


def _counts_for_gold(label: Label) -> bool:
    if label.role == Label.Role.GOLD_QUESTION:
        return False
    return label.annotator.kind == Kind.EXPERT or label.role != Label.Role.EXTRA


def _majority(labels: Sequence[Label]) -> list[Label]:
    """The labels with the value of more than half of them; empty if there is no majority."""
    votes = Counter(value_key(label.value) for label in labels if label.value is not None)
    top, count = votes.most_common(1)[0] if votes else ("", 0)
    if count * 2 <= len(labels):
        return []
    return [label for label in labels if label.value is not None and value_key(label.value) == top]


def _gold_from(labels: Sequence[Label], basis: str) -> Gold:
    last = labels[-1]
    by = last.annotator if basis != Gold.Basis.AGREEMENT else None
    evidence = [str(label.uid) for label in labels]
    return Gold(
        schema_id=last.schema_id, value=last.value, basis=basis, decided_by=by, evidence=evidence
    )
