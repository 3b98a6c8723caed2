"""Fetch a project's current labels as a matrix of items and annotators.

A label becomes one whole number in the database (item, annotator and answer side by side), as
handing over a number takes a third of the time of three. Answers that the schema does not list are
fetched as they are and numbered here.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from django.db.models import Count, F, Max, Min, Q, QuerySet, TextField
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast

from apps.agreement.report.coding import (
    ABSTAINED,
    NOT_AN_OPTION,
    NOT_IN_SCHEMA,
    UNKNOWN,
    Coder,
    IdIndex,
    TextCode,
    distinct_numbers,
    fetch_numbers,
)
from apps.agreement.report.slices import Slice, check_slice, created_within, tagged_items
from apps.authors.models import Question
from apps.debates.models import Run
from apps.labels.blindness import hidden_from
from apps.labels.models import MACHINES, Annotator, Kind, Label
from apps.labels.selectors import StoredAnswer, current_gold, labels_of_run, translated_answers
from apps.projects.models import Item, LabelSchema, Project
from apps.projects.selectors import CLUSTER_KEYS, current_schema
from labelhub.core.agreement.ratings import Ints, Ratings
from labelhub.core.agreement.reports.label_matrix import KINDS, LabelMatrix, Rater

#: Items whose meta data are searched for a key.
LOOKED_AT = 500


def clusters_of(
    project: Project, item_ids: Ints, authors: Mapping[int, int]
) -> tuple[Ints | None, str]:
    """A cluster number for each item, from 0 without gaps, and the unit of the clusters: by the
    author of a site's question, else a known key of the meta data, else ``authors``.

    An item without any of these is a cluster of its own. No numbers where nothing belongs together.

    Args:
        authors: item → annotator, of the authors' own labels. One annotator for all items stands
            for several unknown writers.
    """
    asked = Question.objects.filter(item__project=project)
    owners: dict[int, object] = dict(asked.values_list("item_id", "author_id"))
    unit = "authors"
    if not owners:
        items = Item.objects.filter(project=project)
        metas = items.order_by("pk").values_list("meta", flat=True)[:LOOKED_AT]
        counts = Counter(
            key for meta in metas for key in CLUSTER_KEYS if (meta or {}).get(key) is not None
        )
        if counts:
            # The key that most items have, the widest among equals.
            key = max(CLUSTER_KEYS, key=lambda name: counts[name])
            keyed = items.annotate(owner=KeyTextTransform(key, "meta"))
            owners, unit = dict(keyed.values_list("pk", "owner")), CLUSTER_KEYS[key]
        elif len(set(authors.values())) > 1:
            owners = dict(authors)
    # One database gives JSON's null as a text.
    owners = {item: who for item, who in owners.items() if who not in (None, "", "null")}
    named = [owners.get(item, f"item {item}") for item in item_ids.tolist()]
    number: dict[object, int] = {}
    numbers = np.array([number.setdefault(name, len(number)) for name in named], dtype=np.int64)
    return (numbers, unit) if len(number) < len(named) else (None, "items")


CHUNK = 20_000
#: Codes of a packed label: an abstention, or an answer that must be fetched itself.
_ABSTAINS, _OTHER, _CODES = 62, 63, 64

#: Labels as they come, shape (3, labels): items, annotators, codes; ABSTAINED and UNKNOWN are not
#: yet left out.
Columns = Ints


def read_label_matrix(
    project: Project,
    asked: Slice | None = None,
    *,
    schema: LabelSchema | None = None,
    reader: int | None = None,
) -> LabelMatrix:
    """The labels of the slice ``asked``; the number of queries does not grow with it.

    ``schema``: the current one, if ``asked`` was checked against it. ``reader``: id of the reviewer
    who reads the result. Machines' labels of items that this person must audit blind are left out.

    Raises:
        InvalidInput, NotFound: see ``check_slice``.
    """
    asked = asked or Slice()
    if schema is None:
        schema = current_schema(project)
        check_slice(project, schema.parsed, asked)
    coder = Coder.of_project(project, schema.parsed, asked.label)
    raters = _read_raters(project)
    ids = [rater.id for rater in raters] or [0]
    span = Item.objects.filter(project=project).aggregate(low=Min("pk"), high=Max("pk"))
    item_ids, rater_ids = (span["low"] or 0, span["high"] or 0), (min(ids), max(ids))
    votes, before, *of_run = counted_labels(project, asked, raters, reader)
    # These are under the labels of their time, all others under today's.
    fetched = [_number(translated_answers(schema, before.order_by("pk")), coder)]
    fetched += [_fetch(rows, coder, item_ids, rater_ids) for rows in (votes, *of_run)]
    labels = np.concatenate(fetched, axis=1)
    gold = (
        current_gold(project).filter(tagged_items(project, asked.tag)).annotate(raw=_stored_json())
    )
    if reader is not None:
        gold = gold.exclude(hidden_from(reader, item="item_id"), decided_by__kind__in=MACHINES)
    decided = list(gold.values_list("item_id", "raw", "decided_by__kind"))
    truth = [(item, coder.of(item, raw), kind) for item, raw, kind in decided if raw is not None]
    sheet = replace(
        _matrix(project, coder, raters, labels, truth),
        rejections=_count_rejections(project, asked, raters),
    )
    return _of_chosen_raters(sheet, asked)


def _read_raters(project: Project) -> list[Rater]:
    """All raters of the project. Beside LLMs the offline text matcher counts as a model: its labels
    must not count as an LLM's."""
    found = [
        Rater(annotator.pk, annotator.name, annotator.kind, annotator.offline)
        for annotator in Annotator.objects.filter(project=project).order_by("pk")
    ]
    if not any(rater.kind == Kind.LLM and not rater.offline for rater in found):
        return found
    return [
        replace(rater, kind=Kind.MODEL.value) if rater.kind == Kind.LLM and rater.offline else rater
        for rater in found
    ]


def _of_chosen_raters(sheet: LabelMatrix, asked: Slice) -> LabelMatrix:
    """Only the labels of the chosen annotators; gold and authors' answers stay."""
    if not asked.kind and asked.annotator is None:
        return sheet
    chosen = np.array(
        [
            asked.kind in ("", rater.kind) and asked.annotator in (None, rater.id)
            for rater in sheet.raters
        ],
        dtype=bool,
    )
    return replace(
        sheet,
        ratings=sheet.ratings.where(chosen[sheet.ratings.raters]),
        abstained=sheet.abstained[chosen[sheet.abstained[:, 1]]],
    )


def _count_rejections(project: Project, asked: Slice, raters: Sequence[Rater]) -> Mapping[str, int]:
    """Kind → how often its chosen annotators only rejected a suggestion."""
    rows = Label.objects.standing().filter(
        tagged_items(project, asked.tag) & created_within(asked),
        annotator__project=project,
        rejected=True,
    )
    if asked.annotator is not None:
        rows = rows.filter(annotator=asked.annotator)
    counts = dict(rows.order_by().values_list("annotator").annotate(n=Count("pk")))
    found: Counter[str] = Counter()
    for rater in raters:
        if rater.id in counts and asked.kind in ("", rater.kind):
            found[rater.kind] += counts[rater.id]
    return found


def _stored_json() -> Cast:
    """An answer's JSON as the database keeps it; a cast spares parsing a million of them."""
    return Cast("value", TextField())


def counted_labels(
    project: Project, asked: Slice, raters: Sequence[Rater], reader: int | None
) -> list[QuerySet[Label]]:
    """The labels that count: standing votes, votes before rulings and, with a run chosen, the
    run's; then the first are people's only."""
    narrowed = tagged_items(project, asked.tag) & created_within(asked) & Q(item__project=project)
    machines = [rater.id for rater in raters if rater.kind in MACHINES]
    if reader is not None:
        narrowed &= ~(Q(annotator__in=machines) & hidden_from(reader, item="item_id"))
    # Over all projects: one look into the index; restricted to the project it would be a scan.
    past = Label.objects.filter(supersedes__isnull=False).values("supersedes")
    votes = Label.objects.filter(narrowed, withdrawn=False, rejected=False)
    votes = votes.exclude(pk__in=past).exclude(role__in=Label.SETTLING)
    before = Label.objects.votes_before_rulings().filter(narrowed)
    if asked.run is None:
        return [votes, before]
    run = Run.objects.get(pk=asked.run)
    of_run = labels_of_run(project.pk, run.uid).filter(narrowed, replicate=asked.replicate)
    return [votes.exclude(annotator__in=machines), before, of_run]


def _fetch(
    rows: QuerySet[Any], coder: Coder, item_ids: tuple[int, int], annotator_ids: tuple[int, int]
) -> Columns:
    """``item_ids`` and ``annotator_ids``: the lowest and the highest of the project."""
    known, low = coder.known, annotator_ids[0]
    span = annotator_ids[1] - low + 1
    if not known:
        return _fetch_unlisted(rows, coder)
    code = TextCode(_stored_json(), known, null=_ABSTAINS, other=_OTHER)
    place = F("item_id") * span + F("annotator_id") - low
    packed = fetch_numbers(rows, place * _CODES + code, item_ids)
    places, codes = np.divmod(packed, _CODES)
    listed = codes != _OTHER
    if not listed.all():
        places, codes = places[listed], codes[listed]
    codes[codes == _ABSTAINS] = ABSTAINED
    items, annotators = np.divmod(places, span)
    found = np.stack([items, annotators + low, codes])
    if listed.all():
        return found
    unlisted = rows.annotate(raw=_stored_json()).exclude(raw__in=list(known)).exclude(raw=None)
    return np.concatenate([found, _fetch_unlisted(unlisted, coder)], axis=1)


def _fetch_unlisted(rows: QuerySet[Any], coder: Coder) -> Columns:
    answers = rows.order_by("pk").annotate(raw=_stored_json())
    columns = ("item_id", "annotator_id", "raw")
    return _number(answers.values_list(*columns).iterator(CHUNK), coder)


def _number(answers: Iterable[StoredAnswer], coder: Coder) -> Columns:
    # Answers that the schema does not list are numbered in order of appearance, always the same.
    rows = [
        (item, annotator, ABSTAINED if raw is None else coder.of(item, raw))
        for item, annotator, raw in answers
    ]
    return np.array(rows, dtype=np.int64).reshape(-1, 3).T


def _matrix(
    project: Project,
    coder: Coder,
    raters: list[Rater],
    labels: Columns,
    truth: Sequence[tuple[int, int, str | None]],
) -> LabelMatrix:
    labelled, annotator_ids, codes = labels
    item_ids = distinct_numbers(labelled)
    number_of = IdIndex(np.array([rater.id for rater in raters], dtype=np.int64))
    annotators = number_of(annotator_ids)
    abstained, usable = codes == ABSTAINED, codes >= 0
    items = IdIndex(item_ids)
    categories = coder.categories
    columns = items(labelled[usable]), annotators[usable], codes[usable]
    ratings = Ratings(*columns, len(item_ids), len(raters), max(len(categories), 1))
    authors = np.array([rater.kind == Kind.AUTHOR for rater in raters], dtype=bool)
    own = _first_last(np.flatnonzero(authors[annotators]), annotator_ids)
    author_of = dict(zip(labelled[own].tolist(), annotator_ids[own].tolist(), strict=True))
    clusters, unit = clusters_of(project, item_ids, author_of)
    # The author's answer to each item; where an item has several authors, the first one's.
    author = np.full(len(item_ids), -1)
    rows = _first_last(np.flatnonzero(authors[ratings.raters]), ratings.raters)
    author[ratings.items[rows]] = ratings.codes[rows]
    gold, gold_kind = _gold_codes(items, len(item_ids), truth)
    reason = NOT_AN_OPTION if coder.itemwise else NOT_IN_SCHEMA
    unknown = int((codes == UNKNOWN).sum())
    return LabelMatrix(
        task=coder.task,
        categories=categories,
        ratings=ratings,
        raters=raters,
        abstained=np.column_stack([items(labelled[abstained]), annotators[abstained]]),
        gold=gold,
        gold_kind=gold_kind,
        author=author,
        item_ids=item_ids,
        sets=coder.sets,
        scores=coder.scores,
        options=coder.options_of(item_ids),
        texts=coder.texts_of(item_ids),
        clusters=clusters,
        unit=unit,
        left_out={reason: unknown} if unknown else {},
    )


def _gold_codes(
    items: IdIndex, size: int, truth: Sequence[tuple[int, int, str | None]]
) -> tuple[Ints, Ints]:
    """Gold and the kind that decided it, for each item with labels; -1 without gold."""
    gold, kinds = np.full(size, -1), np.full(size, -1)
    known = [(item, code, KINDS.index(kind) if kind else -1) for item, code, kind in truth]
    table = np.array(known, dtype=np.int64).reshape(-1, 3)
    places = items.find(table[:, 0])
    there = (places >= 0) & (table[:, 1] >= 0)
    gold[places[there]] = table[there, 1]
    kinds[places[there]] = table[there, 2]
    return gold, kinds


def _first_last(rows: Ints, annotators: Ints) -> Ints:
    """``rows`` with those of the first annotator at the end, where they overwrite the others."""
    return rows[np.argsort(-annotators[rows], kind="stable")]
