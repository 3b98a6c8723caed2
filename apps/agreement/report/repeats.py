"""Fetch all answers of annotators who answered an item more than once.

A label that supersedes another, and a machine's replicates: each is an annotator of its own in the
ledger, ``ecj: a #2`` beside ``ecj: a``, and here one again. Not a second judgement, and left out:
what was withdrawn; what a person corrected within the time of one lease (a slip); rulings, which
follow from others' votes; what a later run took over from stored answers.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
from django.db.models import Exists, F, OuterRef, Q, QuerySet

from apps.agreement.report.coding import ABSTAINED, Coder
from apps.agreement.report.slices import Slice, created_within, tagged_items
from apps.debates.models import Run, Turn
from apps.labels.blindness import hidden_from
from apps.labels.models import MACHINES, Label
from apps.labels.selectors import StoredAnswer, labels_of_run, translated_answers
from apps.projects.models import LabelSchema, Project
from apps.reviews.queue.leases import LEASE_SECONDS
from labelhub.core.agreement.ratings import Ints, Ratings
from labelhub.core.agreement.reports.label_matrix import LabelMatrix, Rater
from labelhub.core.agreement.reports.repeats import measure_repeats

#: A person who revises within this time corrects a slip.
SLIP = timedelta(seconds=LEASE_SECONDS)
REPLICATE = re.compile(r"(.+) #\d+", re.DOTALL)


def self_agreement(
    project: Project,
    sheet: LabelMatrix,
    asked: Slice,
    *,
    schema: LabelSchema,
    reader: int | None = None,
) -> dict[str, dict[str, Any]]:
    """Kind → how its annotators agree with themselves, JSON-ready; empty without repeats.

    At most six queries; without any repeats two short ones. ``asked``, ``schema`` (the current
    one), ``reader``: as for ``read_label_matrix``, which made ``sheet``. With a run chosen all of
    its replicates count.
    """
    replicates = _first_replicates(sheet.raters)
    wanted = _label_queries(project, asked, replicates, sheet.raters, reader)
    # By the sheet's kinds, which are not always the ledger's.
    chosen = {rater.id for rater in sheet.raters if asked.kind in ("", rater.kind)}
    answers = [
        answer
        for rows in wanted
        for answer in translated_answers(schema, rows.order_by("pk"))
        if answer[1] in chosen
    ]
    if not answers:
        return {}
    coder = Coder.of_project(project, schema.parsed, asked.label)
    repeats = measure_repeats(_repeats_matrix(sheet, coder, answers, replicates))
    return {kind: repeated.to_json() for kind, repeated in repeats.items()}


def _first_replicates(raters: Sequence[Rater]) -> dict[int, int]:
    """Annotator → the one whose replicate it is, of machines that have any, these included."""
    firsts = {(rater.kind, rater.name): rater.id for rater in raters if rater.kind in MACHINES}
    found: dict[int, int] = {}
    for (kind, name), own in firsts.items():
        named = REPLICATE.fullmatch(name)
        first = firsts.get((kind, named[1])) if named else None
        if first is not None:
            found |= {own: first, first: first}
    return found


def _label_queries(
    project: Project,
    asked: Slice,
    replicates: dict[int, int],
    raters: Sequence[Rater],
    reader: int | None,
) -> Iterator[QuerySet[Label]]:
    """The labels: replicates or a run's, then those that supersede, then the first of these."""
    machines = [rater.id for rater in raters if rater.kind in MACHINES]
    narrowed = tagged_items(project, asked.tag) & created_within(asked) & _is_judgement()
    if reader is not None:
        narrowed &= ~(Q(annotator__in=machines) & hidden_from(reader, item="item_id"))
    if asked.annotator is not None:
        narrowed &= Q(annotator=asked.annotator)
    elsewhere = set(replicates)
    if asked.run is not None:
        elsewhere = set(machines)
        run = Run.objects.get(pk=asked.run)
        if run.replicates > 1:
            yield labels_of_run(project.pk, run.uid).filter(narrowed)
    elif replicates:
        repeated = Q(annotator__in=set(replicates.values())) | Q(replicate__gt=1)
        yield Label.objects.filter(narrowed, repeated, annotator__in=elsewhere)
    # Over all projects, by the index of superseded labels: the project's own would be a scan.
    # A label that a schema change has carried over is no second judgement.
    revisions = Label.objects.filter(supersedes__gt=0, change__isnull=True)
    revisions = revisions.exclude(supersedes__role__in=Label.SETTLING)
    own = Label.objects.filter(narrowed, annotator__project=project)
    own = own.exclude(annotator__in=elsewhere)
    yield own.filter(pk__in=revisions.values("pk"))
    standing = revisions.filter(withdrawn=False, rejected=False).exclude(role__in=Label.SETTLING)
    carried = standing.filter(supersedes__change__isnull=False)
    first = Q(pk__in=standing.values("supersedes"))
    first |= Q(pk__in=carried.values("supersedes__supersedes"))
    yield own.filter(first, supersedes=None)


def _is_judgement() -> Q:
    """Neither withdrawn nor a mere rejection, no slip, and not answered from the store later."""
    meant = (
        # Imports say when they were made, not when was answered.
        Q(action=Label.Action.IMPORTED)
        | Q(superseded_by__action=Label.Action.IMPORTED)
        | Q(annotator__kind__in=MACHINES)
        | Q(superseded_by__created_at__gte=F("created_at") + SLIP)
    )
    reused = Turn.objects.filter(debate__label=OuterRef("pk"), reused=True)
    return (
        Q(withdrawn=False, rejected=False)
        & Q(change__isnull=True)
        & ~Q(role__in=Label.SETTLING)
        & (
            Q(superseded_by=None)
            | Q(superseded_by__change__isnull=False)
            | Q(superseded_by__role__in=Label.SETTLING)
            | Q(superseded_by__withdrawn=False, superseded_by__rejected=False) & meant
        )
        & (Q(supersedes=None) | ~Q(Exists(reused)))
    )


def _repeats_matrix(
    sheet: LabelMatrix, coder: Coder, answers: Sequence[StoredAnswer], replicates: dict[int, int]
) -> LabelMatrix:
    places = {rater.id: place for place, rater in enumerate(sheet.raters)}
    place = {own: places[replicates.get(own, own)] for own in places}
    table = np.array(
        [
            (item, place[annotator], ABSTAINED if raw is None else coder.of(item, raw))
            for item, annotator, raw in answers
        ],
        dtype=np.int64,
    )
    ids, items = np.unique(table[:, 0], return_inverse=True)
    raters, codes = table[:, 1], table[:, 2]
    usable, abstained = codes >= 0, codes == ABSTAINED
    unknown = np.full(len(ids), -1)
    return replace(
        sheet,
        categories=coder.categories,
        sets=coder.sets,
        ratings=Ratings(
            items[usable],
            raters[usable],
            codes[usable],
            len(ids),
            len(sheet.raters),
            max(len(coder.categories), 1),
        ),
        abstained=np.column_stack([items[abstained], raters[abstained]]),
        gold=unknown,
        gold_kind=unknown,
        author=unknown,
        item_ids=ids,
        options=coder.options_of(ids),
        texts=coder.texts_of(ids),
        clusters=_clusters(sheet, ids),
    )


def _clusters(sheet: LabelMatrix, ids: Ints) -> Ints | None:
    """The clusters of the items; an item that the sheet does not have is a cluster of its own."""
    if sheet.clusters is None:
        return None
    places = np.searchsorted(sheet.item_ids, ids).clip(max=len(sheet.item_ids) - 1)
    alone = sheet.clusters.max() + 1 + np.arange(len(ids))
    return np.asarray(np.where(sheet.item_ids[places] == ids, sheet.clusters[places], alone))
