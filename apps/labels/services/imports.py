"""Labels and gold that come in files, many at a time; idempotent by uid or by (item, annotator)."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain
from uuid import UUID, uuid4

from django.db import transaction
from django.utils import timezone

from apps.common.bulk import insert_rows
from apps.common.metrics import IMPORTED, LABELS, count_stored
from apps.labels.models import Gold, Label
from apps.labels.services.item_ledger import current_labels, ledger_from, ledgers_of, read_histories
from apps.labels.services.new_rows import ImportOutcome, NewGold, NewLabel
from apps.labels.services.states import create_states, lock_states, refresh_locked, refresh_states
from apps.projects.models import Project
from labelhub.core.schema import Value, value_key


@dataclass(frozen=True, slots=True)
class KnownLabels:
    """The labels that some items have already; keys are (item, uid) or (item, annotator)."""

    by_uid: dict[tuple[int, UUID], int] = field(default_factory=dict)
    by_annotator: dict[tuple[int, int], Value | None] = field(default_factory=dict)
    #: The annotator's first value, also where it was revised since.
    first: dict[tuple[int, int], Value | None] = field(default_factory=dict)
    #: First values that a file has withdrawn: the same row may come again.
    taken_back: set[tuple[int, int, str]] = field(default_factory=set)
    #: The uid of the annotator's current label.
    current_uid: dict[tuple[int, int], UUID] = field(default_factory=dict)
    superseded: set[tuple[int, UUID]] = field(default_factory=set)
    #: The annotator of each label, those of this import too.
    annotator_of: dict[tuple[int, UUID], int] = field(default_factory=dict)
    #: Annotators whose current label only rejects the suggestion.
    rejects: set[tuple[int, int]] = field(default_factory=set)
    #: Annotators whose current label settles the item.
    ruled: set[tuple[int, int]] = field(default_factory=set)
    #: Labels that another draft of this import supersedes.
    past: set[tuple[int, UUID]] = field(default_factory=set)
    written: list[Label] = field(default_factory=list)

    @classmethod
    def of(cls, history: Sequence[Label]) -> "KnownLabels":
        """What is known from all labels of these items, oldest first."""
        known = cls()
        superseded = {row.supersedes_id for row in history}
        for row in history:
            known.by_uid[row.item_id, row.uid] = row.pk
            known.annotator_of[row.item_id, row.uid] = row.annotator_id
            pair = (row.item_id, row.annotator_id)
            if row.role in Label.ASIDE:
                continue
            if row.withdrawn:
                known.forget_first(pair, gone=row.action == Label.Action.IMPORTED)
            elif not row.rejected:
                known.first.setdefault(pair, row.value)
            if row.pk in superseded:
                known.superseded.add((row.item_id, row.uid))
            elif not row.withdrawn:
                known.by_annotator[pair] = row.value
                known.current_uid[pair] = row.uid
                known.rejects.update({pair} if row.rejected else ())
                known.ruled.update({pair} if row.settles else ())
        return known

    def classify(self, draft: NewLabel) -> ImportOutcome:
        """Whether the draft is written; a created one is known from then on."""
        pair = (draft.item_id, draft.annotator.pk)
        if draft.uid and (draft.item_id, draft.uid) in self.by_uid:
            return ImportOutcome.UNCHANGED
        shown = draft.shown_id or (draft.item_id, draft.shown_uid) in self.by_uid
        if draft.rejected and not shown:
            return ImportOutcome.CONFLICT  # it says nothing without the suggestion that it rejects
        if draft.supersedes_uid:
            earlier = (draft.item_id, draft.supersedes_uid)
            # Nobody revises another annotator's label.
            by_another = self.annotator_of.get(earlier, draft.annotator.pk) != draft.annotator.pk
            if by_another or earlier in self.superseded:
                return ImportOutcome.CONFLICT
            self.superseded.add(earlier)
        elif pair in self.by_annotator and not self.is_past(draft):
            now = self.by_annotator[pair]
            keys = {value_key(now), value_key(self.first.get(pair, now))}
            there = value_key(draft.value) in keys and draft.rejected == (pair in self.rejects)
            return ImportOutcome.UNCHANGED if there else ImportOutcome.CONFLICT
        self.note(draft)
        return ImportOutcome.CREATED

    def note(self, draft: NewLabel) -> None:
        """Count the draft among the known labels."""
        pair = (draft.item_id, draft.annotator.pk)
        # The annotator may label the item again.
        if draft.withdrawn and draft.role not in Label.ASIDE:
            self.forget_first(pair, gone=True)
            for of_pair in (self.by_annotator, self.current_uid):
                of_pair.pop(pair, None)
            self.rejects.discard(pair)
            self.ruled.discard(pair)
        elif not self.is_past(draft):
            self.by_annotator[pair] = draft.value
            self.first.setdefault(pair, draft.value)
            (self.rejects.add if draft.rejected else self.rejects.discard)(pair)
            (self.ruled.add if draft.role in Label.SETTLING else self.ruled.discard)(pair)
            if draft.uid:
                self.current_uid[pair] = draft.uid
        if draft.uid:
            self.by_uid[draft.item_id, draft.uid] = 0  # the id follows when it is written

    def forget_first(self, pair: tuple[int, int], *, gone: bool) -> None:
        """The annotator may label the item again; a file that withdrew the label may repeat it."""
        if pair in self.first:
            first = self.first.pop(pair)
            if gone:
                self.taken_back.add((*pair, value_key(first)))

    def is_gone(self, draft: NewLabel) -> bool:
        """Whether the draft only repeats a label that a file has withdrawn."""
        pair = (draft.item_id, draft.annotator.pk)
        names_another = draft.uid or draft.supersedes_uid or draft.supersedes_own
        again = not names_another and not draft.withdrawn and pair not in self.by_annotator
        return again and (*pair, value_key(draft.value)) in self.taken_back

    def is_past(self, draft: NewLabel) -> bool:
        """Whether another draft supersedes this one, or it counts for nothing."""
        superseded = draft.uid is not None and (draft.item_id, draft.uid) in self.past
        return superseded or draft.role in Label.ASIDE


@transaction.atomic
def import_labels(project: Project, drafts: Sequence[NewLabel]) -> list[ImportOutcome]:
    """Append imported labels (values already canonical); one outcome per draft, in order.

    A label whose uid the item has already is unchanged. Without a uid the first label of an
    (item, annotator) pair is kept: one equal to it, or to its revision, is unchanged, another one a
    conflict.
    """
    ids = sorted({draft.item_id for draft in drafts})
    states = lock_states(ids)
    histories = read_histories(ids)
    known = KnownLabels.of(list(chain.from_iterable(histories.values())))
    outcomes = _append_labels(drafts, known)
    # The rows just written are not read again. Items without one are refreshed too: a ledger that
    # was imported with its item decided nothing.
    for row in known.written:
        histories[row.item_id].append(row)
    refresh_locked(project, states, ledgers_of(histories))
    return outcomes


@transaction.atomic
def import_ledger(
    project: Project, labels: Sequence[NewLabel], golds: Sequence[NewGold]
) -> list[ImportOutcome]:
    """Append all labels and decisions of freshly created items; one outcome per label, in order.

    The history is imported unchanged and nothing is decided again, so that an exported ledger stays
    the same.
    """
    ids = {draft.item_id for draft in labels} | {draft.item_id for draft in golds}
    known = KnownLabels()
    outcomes = _append_labels(labels, known)
    # An item whose labels were all withdrawn waits in the queue like any other.
    labels_of: dict[int, list[Label]] = {item_id: [] for item_id in ids}
    for row in sorted(current_labels(known.written), key=lambda row: row.pk):
        labels_of[row.item_id].append(row)
    ledgers = {item_id: ledger_from(labels) for item_id, labels in labels_of.items()}
    for item_id, gold in _append_gold(golds, ids)[1].items():
        ledgers[item_id].gold = gold
    create_states(project, ledgers)
    return outcomes


def _append_labels(drafts: Sequence[NewLabel], known: KnownLabels) -> list[ImportOutcome]:
    for draft in drafts:
        if draft.uid:
            known.annotator_of.setdefault((draft.item_id, draft.uid), draft.annotator.pk)
    known.past.update(
        (draft.item_id, draft.supersedes_uid)
        for draft in drafts
        # Only the annotator's own label: nobody supersedes another's.
        if draft.supersedes_uid
        and known.annotator_of.get((draft.item_id, draft.supersedes_uid)) == draft.annotator.pk
    )
    outcomes, fresh = [], []
    for given, draft in zip(drafts, _resolve_own(drafts, known), strict=True):
        outcome = ImportOutcome.UNCHANGED if known.is_gone(given) else known.classify(draft)
        outcomes.append(outcome)
        if outcome is ImportOutcome.CREATED:
            fresh.append(draft)
    _append_in_waves(fresh, known)
    return outcomes


def _resolve_own(drafts: Sequence[NewLabel], known: KnownLabels) -> Iterator[NewLabel]:
    """The drafts, one by one; ``supersedes_own`` becomes the uid of the annotator's current label
    at that moment. A ruling that names no label supersedes the vote of the same person."""

    def is_ruling(draft: NewLabel) -> bool:
        return draft.role in Label.SETTLING and not (draft.uid or draft.supersedes_uid)

    pairs = {
        (draft.item_id, draft.annotator.pk)
        for draft in drafts
        if draft.supersedes_own or is_ruling(draft)
    }
    for draft in drafts:
        pair = (draft.item_id, draft.annotator.pk)
        if pair not in pairs:
            yield draft
            continue
        named = replace(draft, uid=draft.uid or uuid4())
        if draft.supersedes_own or (is_ruling(draft) and pair not in known.ruled):
            named = replace(named, supersedes_uid=known.current_uid.get(pair))
        yield named


def _append_in_waves(drafts: Sequence[NewLabel], known: KnownLabels) -> None:
    """Write labels after the ones they refer to (a row can only name one that has an id), those of
    one item in the order given as far as that allows. References to labels that are not there are
    dropped."""
    reached: dict[int, int] = {}
    wave_of: dict[tuple[int, UUID], int] = {}
    waves: dict[int, list[NewLabel]] = {}
    for draft in _in_reference_order(drafts):
        after = [wave_of[key] + 1 for key in _references(draft) if key in wave_of]
        wave = max(reached.get(draft.item_id, 0), *after, 0)
        reached[draft.item_id] = wave
        waves.setdefault(wave, []).append(draft)
        if draft.uid:
            wave_of[draft.item_id, draft.uid] = wave
    now = timezone.now()
    for wave in sorted(waves):
        rows = [_to_row(draft, known.by_uid, now) for draft in waves[wave]]
        known.written.extend(insert_rows(rows))
        kinds = Counter((draft.annotator.kind, IMPORTED) for draft in waves[wave])
        count_stored(LABELS, kinds)
        known.by_uid.update({(row.item_id, row.uid): row.pk for row in rows})


def _in_reference_order(drafts: Sequence[NewLabel]) -> Iterator[NewLabel]:
    """The given order, except that a draft that names a later one comes right after that."""
    coming = {(draft.item_id, draft.uid) for draft in drafts if draft.uid}
    left = list(drafts)
    while left:
        held_back = []
        for draft in left:
            if any(key in coming for key in _references(draft)):
                held_back.append(draft)
            else:
                coming.discard((draft.item_id, draft.uid))
                yield draft
        if len(held_back) == len(left):  # a circle: written without those references
            coming.clear()
        left = held_back


def _references(draft: NewLabel) -> list[tuple[int, UUID]]:
    named = (draft.supersedes_uid, draft.shown_uid, draft.proposed_from_uid)
    return [(draft.item_id, uid) for uid in named if uid]


def _to_row(draft: NewLabel, by_uid: dict[tuple[int, UUID], int], now: datetime) -> Label:
    row = draft.to_row(now)
    if draft.supersedes_uid:
        row.supersedes_id = by_uid.get((draft.item_id, draft.supersedes_uid)) or None
    if shown := draft.shown_uid or draft.proposed_from_uid:
        row.shown_id = by_uid.get((draft.item_id, shown)) or None
    if draft.proposed_from_uid:
        row.proposed_from_id = by_uid.get((draft.item_id, draft.proposed_from_uid)) or None
    return row


@transaction.atomic
def import_gold(project: Project, drafts: Sequence[NewGold]) -> list[ImportOutcome]:
    """Append imported gold (values already canonical); one outcome per draft, in order.

    A draft with a uid is part of a history and follows what it supersedes. A plain one is a gold
    column: equal to the current gold it is unchanged, different a conflict.
    """
    ids = {draft.item_id for draft in drafts}
    lock_states(ids)
    outcomes, _ = _append_gold(drafts, ids)
    refresh_states(project, ids)
    return outcomes


def _append_gold(
    drafts: Sequence[NewGold], ids: Iterable[int]
) -> tuple[list[ImportOutcome], dict[int, Gold]]:
    """An outcome per draft, and the newest decision of each item."""
    held = {
        row.item_id: row for row in Gold.objects.filter(item__in=ids, superseded_by__isnull=True)
    }
    seen = set(Gold.objects.filter(item__in=ids).values_list("item_id", "uid"))
    outcomes = [ImportOutcome.CONFLICT] * len(drafts)
    waves: dict[int, list[Gold]] = {}
    for index, draft in enumerate(drafts):
        outcomes[index] = _classify_gold(draft, held.get(draft.item_id), seen)
        if outcomes[index] is ImportOutcome.CREATED:
            row = draft.to_row()
            row.supersedes = held.get(draft.item_id)
            depth = 1 + getattr(row.supersedes, "import_depth", 0)
            row.import_depth = depth  # type: ignore[attr-defined]  # only orders the writing below
            waves.setdefault(depth, []).append(row)
            held[draft.item_id] = row
            seen.add((draft.item_id, row.uid))
    for depth in sorted(waves):
        for row in waves[depth]:
            row.supersedes_id = row.supersedes.pk if row.supersedes else None
        Gold.objects.bulk_create(waves[depth])
    return outcomes, held


def _classify_gold(draft: NewGold, now: Gold | None, seen: set[tuple[int, UUID]]) -> ImportOutcome:
    if draft.uid and (draft.item_id, draft.uid) in seen:
        return ImportOutcome.UNCHANGED
    if draft.uid or now is None or now.withdrawn:
        return ImportOutcome.CREATED
    same = value_key(now.value) == value_key(draft.value)
    return ImportOutcome.UNCHANGED if same else ImportOutcome.CONFLICT
