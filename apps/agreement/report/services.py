"""The agreement report of a project: computed, or stored until the ledger changes."""

import hashlib
import json
import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar

import structlog
from django.contrib.auth.models import AnonymousUser
from django.db import OperationalError, transaction
from django.db.models import Count, Max, Q, Sum
from django.utils.translation import gettext

from apps.accounts.models import User
from apps.accounts.roles import Role
from apps.agreement.evaluation import DECIDED_HERE
from apps.agreement.models import StoredReport
from apps.agreement.report.label_matrix import counted_labels, read_label_matrix
from apps.agreement.report.queries import calibrations, costs, no_costs
from apps.agreement.report.repeats import self_agreement
from apps.agreement.report.slices import Slice, check_slice
from apps.agreement.report.tables import MAIN_WORDS
from apps.authors.models import Erasure, Site
from apps.debates.models import Run
from apps.labels.blindness import hidden_from
from apps.labels.models import PEOPLE, VIEW_UNKNOWN, Gold, ItemState, Label
from apps.projects.models import LabelSchema, Project
from apps.projects.selectors import current_schema
from labelhub.core.agreement.figures import Figure, share
from labelhub.core.agreement.reports.kind_agreement import disputed_items
from labelhub.core.agreement.reports.label_matrix import LabelMatrix
from labelhub.core.agreement.reports.other_annotators import give_intervals, state_scope
from labelhub.core.agreement.reports.reasons import (
    GOLD_IMPORTED,
    NO_GOLD,
    NOT_RECORDED,
    VIEW_NOT_KNOWN,
    WHOLE_PROJECT,
    WORDS,
)
from labelhub.core.agreement.reports.repeats import no_repeats
from labelhub.core.agreement.reports.report import build_report
from labelhub.core.errors import Conflict
from labelhub.core.schema import TASKS

#: Seconds that a request waits for its turn; it holds a thread meanwhile.
PATIENCE = 60.0
#: Requests that wait at once, over all projects; the other threads serve everything else.
MOST_WAITING = 6
#: Seconds that further requests wait for one of these places: a small report takes less.
BRIEFLY = 2.0

_turns: defaultdict[int, threading.Lock] = defaultdict(threading.Lock)
_seats = threading.BoundedSemaphore(MOST_WAITING)


class MeasuringBusy(Conflict):
    """Other requests were computing this project's report; try again."""

    code = "measuring"
    retryable: ClassVar[bool] = True


@contextmanager
def report_turn(project_id: int, *, patience: float = PATIENCE) -> Iterator[bool]:
    """Compute the project's report alone in this process; yields whether it had to wait.

    Raises:
        MeasuringBusy: others took longer than ``patience`` seconds, or too many wait already.
    """
    lock = _turns[project_id]
    waits = not lock.acquire(blocking=False)
    if waits:
        acquired = False
        if _seats.acquire(timeout=min(patience, BRIEFLY)):
            try:
                acquired = lock.acquire(timeout=patience)
            finally:
                _seats.release()
        if not acquired:
            raise MeasuringBusy("This report is being computed for others. Try again in a minute.")
    try:
        yield waits
    finally:
        lock.release()


logger = structlog.get_logger(__name__)

#: Raise it when the content of reports changes: stored ones are then computed anew.
EDITION = 10
#: Labels given while a suggestion was on the screen.
IN_VIEW = Q(shown__isnull=False)
UNKNOWN = Q(shown__isnull=True, provenance__has_key=VIEW_UNKNOWN)
MOST_STORED = 50
MOST_DIVIDED = 20


def agreement_report(
    project: Project,
    asked: Slice | None = None,
    *,
    user: User | AnonymousUser | None = None,
    schema: LabelSchema | None = None,
) -> Mapping[str, Any]:
    """The report in the shape that page, command and REST share.

    ``user``: the reader. A reviewer with items to audit blind gets a report without the machines'
    labels of those, whose number is ``withheld``; operators' commands give no reader. ``schema``:
    the current one, if ``asked`` was checked against it.

    Raises:
        InvalidInput, NotFound: the slice means nothing in this project.
    """
    asked = asked or Slice()
    if schema is None:
        schema = current_schema(project)
        check_slice(project, schema.parsed, asked)
    if user is not None and (hidden := _blind_audits(project, user)):
        with report_turn(project.pk):
            return _compute(project, schema, asked, reader=user.pk) | {"withheld": hidden}
    state = ledger_state(project, schema)
    known = _stored_report(project, asked, state)
    if known is not None:
        return known
    with report_turn(project.pk) as waited:
        if waited:
            schema = current_schema(project)
            check_slice(project, schema.parsed, asked)
            state = ledger_state(project, schema)
            known = _stored_report(project, asked, state)
            if known is not None:
                return known
        body = _compute(project, schema, asked)
        if may_be_stored(asked):
            _store(project, asked, state, body)
        return body


def report_at_hand(
    project: Project, asked: Slice, schema: LabelSchema, user: User | AnonymousUser
) -> Mapping[str, Any] | None:
    """The report if it is stored and this reader may have the stored one; computes nothing."""
    if not may_be_stored(asked) or _blind_audits(project, user):
        return None
    return _stored_report(project, asked, ledger_state(project, schema))


def _stored_report(project: Project, asked: Slice, state: str) -> Mapping[str, Any] | None:
    if not may_be_stored(asked):
        return None
    rows = StoredReport.objects.filter(project=project, asked=asked.query, state=state)
    return rows.values_list("body", flat=True).first()


def read_glance(project: Project) -> dict[str, Any] | None:
    """The recommended ``coefficient`` of all people and its ``figure``, from the last report on all
    labels, and when it was ``measured_at``; None where there is none. One query."""
    whole = StoredReport.objects.filter(project=project, asked="")
    row = whole.values_list("body__people", "body__task", "computed_at").first()
    if row is None:
        return None
    people, task, measured_at = row
    name = TASKS[task].coefficients[0]
    figure = people[name]
    if code := figure.get("reason"):
        figure = figure | {"reason": WORDS.get(code, code)}
    words = gettext(MAIN_WORDS[name])
    return {"coefficient": words, "figure": figure, "measured_at": measured_at}


def may_be_stored(asked: Slice) -> bool:
    """False for a report that may be about one author: an erasure must delete those numbers."""
    return not (asked.tag or asked.since or asked.until or asked.annotator)


def _blind_audits(project: Project, user: User | AnonymousUser) -> int:
    """How many items this reviewer has to label without knowing the machines' answers."""
    if not project.memberships.filter(user=user.pk, role=Role.REVIEWER).exists():
        return 0
    hidden = hidden_from(user.pk or 0, item="item_id")
    return ItemState.objects.filter(hidden, project=project).count()


def ledger_state(project: Project, schema: LabelSchema) -> str:
    """Changes whenever a label or decision is added or erased, or the schema or a run changes."""
    labels = Label.objects.filter(annotator__project=project)
    gold = Gold.objects.filter(item__project=project)
    runs = Run.objects.filter(project=project)
    parts = (
        EDITION,
        schema.pk,
        labels.aggregate(n=Count("pk"), last=Max("pk")),
        gold.aggregate(n=Count("pk"), last=Max("pk")),
        runs.aggregate(n=Count("pk"), turns=Sum("turns_count"), paid=Sum("cost_nanousd")),
    )
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _compute(
    project: Project, schema: LabelSchema, asked: Slice, *, reader: int | None = None
) -> dict[str, Any]:
    sheet = read_label_matrix(project, asked, schema=schema, reader=reader)
    found = build_report(sheet).to_json()
    if asked.intervals:
        give_intervals(sheet, found)
    found["most_divided"] = [
        {"item": item.item_id, "disagreement": item.disagreement, "labels": item.labels}
        for item in disputed_items(sheet, most=MOST_DIVIDED)
    ]
    body = {
        "project": project.slug,
        "task": str(schema.task),
        "slice": dict(asked.given),
        "intervals": asked.intervals or "these",
        "unit": sheet.unit,
        "categories": list(sheet.categories) if sheet.shares_categories else None,
        "offline": offline_kinds(sheet),
        **found,
        **gold_in_view(project, sheet),
        "labels_in_view": labels_in_view(project, sheet, asked),
        "calibration": calibrations(project, sheet, asked),
        "intra": dict.fromkeys(sheet.kinds, no_repeats(sheet).to_json())
        | self_agreement(project, sheet, asked, schema=schema, reader=reader),
        "cost": dict.fromkeys(
            sheet.kinds, no_costs(WHOLE_PROJECT if asked.partial else NOT_RECORDED)
        )
        | ({} if asked.partial else costs(project)),
    }
    return {key: state_scope(part, key) for key, part in body.items()}


def gold_in_view(project: Project, sheet: LabelMatrix) -> dict[str, Any]:
    """The share of the sheet's gold that was decided with a suggestion in view: one of the deciding
    labels was given so. ``gold_view_unknown`` counts the gold of whose labels this is not known; of
    imported gold it is never known. At most two queries."""
    items = set(sheet.item_ids[sheet.gold >= 0].tolist())
    golds = Gold.objects.current().filter(item__project=project)
    rows = golds.exclude(basis=Gold.Basis.IMPORTED).values_list("item_id", "basis", "evidence")
    evidences = [
        evidence if basis in DECIDED_HERE else () for item, basis, evidence in rows if item in items
    ]
    views: dict[str, bool] = {}
    if any(evidences):
        labels = Label.objects.filter(
            IN_VIEW | UNKNOWN, annotator__project=project, annotator__kind__in=PEOPLE
        )
        views = {str(uid): shown is not None for uid, shown in labels.values_list("uid", "shown")}
    ways = [{views[uid] for uid in evidence if uid in views} for evidence in evidences]
    seen = sum(True in way for way in ways)
    unknown = sum(way == {False} for way in ways)
    reason = VIEW_NOT_KNOWN if unknown else GOLD_IMPORTED if items else NO_GOLD
    return {
        "gold_in_view": share(seen, len(ways) - unknown, reason=reason),
        "gold_view_unknown": unknown,
    }


def labels_in_view(project: Project, sheet: LabelMatrix, asked: Slice) -> Figure:
    """The share of people's labels that were given with a suggestion in view, of those of which
    it is known: not of imported ones. One query."""
    votes, before, *_ = counted_labels(project, asked, sheet.raters, None)
    people = (votes | before).filter(annotator__kind__in=PEOPLE, value__isnull=False)
    if asked.kind:
        people = people.filter(annotator__kind=asked.kind)
    if asked.annotator is not None:
        people = people.filter(annotator=asked.annotator)
    found = people.aggregate(
        n=Count("pk", filter=~UNKNOWN & ~Q(action=Label.Action.IMPORTED)),
        seen=Count("pk", filter=IN_VIEW),
    )
    return share(found["seen"], found["n"], reason=VIEW_NOT_KNOWN)


def offline_kinds(sheet: LabelMatrix) -> dict[str, list[str]]:
    """Kind → its annotators, if all that labelled are the built-in text matcher (no LLM)."""
    found: dict[str, list[str]] = {}
    for kind in sheet.kinds:
        own = [
            rater
            for rater, labels in zip(sheet.raters, sheet.labels_of, strict=True)
            if rater.kind == kind and labels
        ]
        if own and all(rater.offline for rater in own):
            found[kind] = [rater.name for rater in own]
    return found


def _store(project: Project, asked: Slice, state: str, body: Mapping[str, Any]) -> None:
    """Store the report; a busy database only means that it is not stored."""
    rows = StoredReport.objects.filter(project=project)
    try:
        with transaction.atomic():
            StoredReport.objects.bulk_create(
                [StoredReport(project=project, asked=asked.query, state=state, body=body)],
                update_conflicts=True,
                unique_fields=["project", "asked"],
                update_fields=["state", "body", "computed_at"],
            )
            kept = rows.filter(state=state).values("pk")[:MOST_STORED]
            rows.exclude(pk__in=kept).delete()
        # An erasure during the computation left the author's answers in these numbers. A later one
        # deletes the stored report itself.
        if Site.objects.filter(project=project).exists() and state != ledger_state(
            project, current_schema(project)
        ):
            rows.filter(state=state).delete()
    except OperationalError:
        logger.info("agreement_report_not_kept", project=project.slug)


def forget_reports(instance: Erasure, **_signal: Any) -> None:
    """Delete the stored reports: the erased author's answers are in their numbers."""
    stored = StoredReport.objects.filter(project=instance.site.project_id)
    stored.delete()
    # Once more: a report computed meanwhile has read the data until here.
    transaction.on_commit(lambda: stored.all().delete(), robust=True)
