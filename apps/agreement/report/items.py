"""The items behind a number of the page, with the labels of each kind and the gold."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db.models import Q, QuerySet
from django.utils.translation import gettext

from apps.agreement.report.label_matrix import counted_labels
from apps.agreement.report.slices import Slice
from apps.agreement.report.truths import short_name, truth_name
from apps.common.figures import count_words
from apps.common.values import quoted
from apps.labels.blindness import hidden_from, opinions_hidden_from
from apps.projects.models import Item, Project
from labelhub.core.agreement.coefficients.alpha import set_members
from labelhub.core.agreement.ratings import Bools, Floats, Ints
from labelhub.core.agreement.reports.kind_agreement import disputed_items
from labelhub.core.agreement.reports.label_matrix import KINDS, LabelMatrix
from labelhub.core.errors import InvalidInput
from labelhub.core.schema import fold

TRUTHS = ("gold", "author")
#: Cells of a label: a kind's answer against the truth.
CELLS = ("errors", "wrong", "missed", "right")


@dataclass(frozen=True, slots=True)
class ItemSelection:
    """Which items of a report: one of three questions about the answers of the kind ``of``.

    With ``other``, another kind: items on which the two differ; with ``by``, a truth, too: items on
    which ``of`` is right and ``other`` is not, or less. With ``about``, a label, and ``cell``, one
    of :data:`CELLS`: items in that cell of the label. With ``predicted`` and ``meant``, two labels:
    items on which ``of`` gave the first and the truth is the second. Tied answers are each given in
    part: such items are in several cells.
    """

    of: str
    other: str = ""
    by: str = ""
    about: str = ""
    cell: str = ""
    predicted: str = ""
    meant: str = ""

    def __post_init__(self) -> None:
        """Refuse unknown kinds, truths and cells.

        Raises:
            InvalidInput: naming the parameter.
        """
        for name, kind in (("of", self.of), ("other", self.other)):
            if kind not in KINDS and (name == "of" or kind):
                raise InvalidInput(
                    "%(name)s: must be one of %(kinds)s.", name=name, kinds=", ".join(KINDS)
                )
        if self.by not in TRUTHS and (self.by or not self.other):
            raise InvalidInput("by: must be one of %(truths)s.", truths=", ".join(TRUTHS))
        if not self.other and self.cell not in CELLS and not (self.predicted and self.meant):
            raise InvalidInput("cell: must be one of %(cells)s.", cells=", ".join(CELLS))

    def words(self, offline: Mapping[str, Any]) -> str:
        """A description of the items; ``offline`` has the kinds that are no LLM."""
        report = {"offline": offline}
        named = {
            "kind": short_name(report, self.of),
            "other": short_name(report, self.other),
            "truth": truth_name(self.by),
            "label": self.about or self.predicted,
            "true": self.meant,
        }
        if self.other and self.by:
            words = gettext("%(kind)s right, %(other)s not, by %(truth)s")
        elif self.other:
            words = gettext("%(kind)s and %(other)s differ")
            if self.of == self.other:
                words = gettext("%(kind)s: divided among themselves")
        elif not self.cell:
            words = gettext("%(kind)s: “%(label)s”, %(truth)s: “%(true)s”")
        else:
            words = {
                "errors": gettext("%(kind)s: “%(label)s” wrongly given or missed, by %(truth)s"),
                "wrong": gettext("%(kind)s: “%(label)s” wrongly given, by %(truth)s"),
                "missed": gettext("%(kind)s: “%(label)s” missed, by %(truth)s"),
                "right": gettext("%(kind)s: “%(label)s” rightly given, by %(truth)s"),
            }[self.cell]
        return words % named


def select_places(sheet: LabelMatrix, asked: ItemSelection) -> Ints:
    """Places of those items in the sheet; where kinds differ, those that differ most first.

    Raises:
        InvalidInput: no such label.
    """
    if not len(sheet.item_ids):
        return np.array([], dtype=np.int64)
    if asked.other and not asked.by:
        if asked.of != asked.other:
            return _by_difference(sheet, asked)
        found = disputed_items(sheet, [asked.of], most=len(sheet.item_ids))
        return np.searchsorted(sheet.item_ids, [item.item_id for item in found])
    truth = sheet.gold if asked.by == "gold" else sheet.author
    if asked.other:
        rows = np.flatnonzero(truth >= 0)
        first, second = (
            sheet.votes_of(kind).credit(truth[rows], rows) for kind in (asked.of, asked.other)
        )
        return rows[first > second]
    if not asked.cell:
        predicted, meant = (
            _category_index(sheet, "said", asked.predicted),
            _category_index(sheet, "meant", asked.meant),
        )
        return np.flatnonzero((_share_of(sheet, asked.of, predicted) > 0) & (truth == meant))
    said_it, true_of_it, known = _label_cells(sheet, asked, truth)
    cells = {
        "errors": said_it != true_of_it,
        "wrong": (said_it > 0) & ~true_of_it,
        "missed": (said_it < 1) & true_of_it,
        "right": (said_it > 0) & true_of_it,
    }
    return np.flatnonzero(known & cells[asked.cell])


def withheld_items(project: Project, user_id: int) -> QuerySet[Item]:
    """The items that the reader has still to answer: others' labels of those stay hidden."""
    answered = opinions_hidden_from(user_id) & Q(state__labels_by_people__gt=0)
    return Item.objects.filter(hidden_from(user_id) | answered, project=project)


def answers_by_kind(sheet: LabelMatrix, place: int, item: Item) -> list[tuple[str, str]]:
    """Kind → its answers to the item: ``Joke 2, Question 1``, of sets ``Ask + Praise (1)``.

    The kinds that labelled it; not of free texts, which no sheet holds.
    """
    found = []
    for kind in sheet.kinds:
        patterns = sheet.patterns_of(kind)
        counts = patterns.counts[patterns.of_item[place]]
        if counts.any():
            names = _names(sheet, item)
            chosen = [int(code) for code in np.argsort(-counts, kind="stable") if counts[code]]
            form = "{} ({})" if sheet.sets is not None else "{} {}"
            words = [form.format(names[code], count_words(counts[code])) for code in chosen]
            found.append((kind, ", ".join(words) if counts.sum() > 1 else names[chosen[0]]))
    return found


def gold_words(sheet: LabelMatrix, place: int, item: Item) -> str:
    """The gold of the item in words; empty without gold."""
    code = int(sheet.gold[place])
    if code < 0 or sheet.task.written:
        return ""
    return _names(sheet, item)[code]


def _names(sheet: LabelMatrix, item: Item) -> Sequence[str]:
    if sheet.sets is not None:
        return [" + ".join(sorted(members)) or gettext("none") for members in sheet.sets]
    return item.options if sheet.task.item_options else sheet.categories


def _by_difference(sheet: LabelMatrix, asked: ItemSelection) -> Ints:
    """Places by the share of pairs of labels, one of each kind, that differ."""
    first, other = sheet.patterns_of(asked.of), sheet.patterns_of(asked.other)
    keys = first.of_item * len(other.counts) + other.of_item
    pairs, of_pair = np.unique(keys, return_inverse=True)
    left, right = first.counts[pairs // len(other.counts)], other.counts[pairs % len(other.counts)]
    whole = left.sum(axis=1) * right.sum(axis=1)
    share = np.where(whole > 0, 1 - (left * right).sum(axis=1) / np.maximum(whole, 1), 0.0)
    apart = share[of_pair]
    found = np.flatnonzero(apart > 0)
    return found[np.argsort(-apart[found], kind="stable")]


def _share_of(sheet: LabelMatrix, kind: str, label: int) -> Floats:
    """The share of a label in the most frequent answers of a kind to each item."""
    votes = sheet.votes_of(kind)
    return np.asarray(votes.shares[:, label][votes.of_item])


def _label_cells(
    sheet: LabelMatrix, asked: ItemSelection, truth: Ints
) -> tuple[Floats, Bools, Bools]:
    """How far the kind gives the label, whether it is true, and whether both are known."""
    patterns = sheet.patterns_of(asked.of)
    known = (patterns.totals > 0)[patterns.of_item] & (truth >= 0)
    if sheet.sets is None:
        place = _category_index(sheet, "about", asked.about)
        return _share_of(sheet, asked.of, place), truth == place, known
    names, members = set_members(list(sheet.sets))
    if asked.about not in names:
        raise InvalidInput("about: there is no label '%(about)s'.", about=asked.about[:80])
    has = members[:, names.index(asked.about)]
    # More than half of the sets, and half of it in a tie.
    lead = 2 * (patterns.counts @ has.astype(np.int64)) - patterns.totals
    return ((1 + np.sign(lead)) / 2)[patterns.of_item], has[truth] & (truth >= 0), known


def _category_index(sheet: LabelMatrix, parameter: str, name: str) -> int:
    if not sheet.shares_categories or name not in sheet.categories:
        raise InvalidInput(
            "%(parameter)s: there is no label '%(name)s'.", parameter=parameter, name=name[:80]
        )
    return list(sheet.categories).index(name)


MOST_LETTERS = 200
#: Texts of one kind and item that are shown; further ones are counted.
MOST_TEXTS = 5

#: Kind and its answers, in the order of the kinds.
Answers = list[tuple[str, str]]


def texts_by_kind(
    project: Project, asked: Slice, sheet: LabelMatrix, item_ids: Sequence[int], reader: int | None
) -> dict[int, Answers]:
    """Item → the texts of each kind, the most frequent first; ``sheet`` was read for ``asked``.
    ``reader``: see ``read_label_matrix``."""
    kinds = {
        rater.id: rater.kind
        for rater in sheet.raters
        if asked.kind in ("", rater.kind) and asked.annotator in (None, rater.id)
    }
    found: dict[int, dict[str, dict[str, list[str]]]] = {}
    for rows in counted_labels(project, asked, sheet.raters, reader):
        chosen = rows.filter(item__in=item_ids, annotator__in=kinds, value__isnull=False)
        columns = chosen.order_by("pk").values_list("item_id", "annotator_id", "value")
        for item, annotator, value in columns:
            of_kind = found.setdefault(item, {}).setdefault(kinds[annotator], {})
            of_kind.setdefault(fold(str(value)), []).append(str(value))
    return {
        item: [(kind, _join_texts(texts[kind].values())) for kind in KINDS if kind in texts]
        for item, texts in found.items()
    }


def _join_texts(same: Collection[list[str]]) -> str:
    """``“red car” (2), “bus”``: every text once, with its count."""
    order = sorted(same, key=lambda texts: -len(texts))
    shown = []
    for text, *others in order[:MOST_TEXTS]:
        cut = text if len(text) <= MOST_LETTERS else f"{text[: MOST_LETTERS - 1].rstrip()}…"
        words = quoted(cut)
        shown.append(f"{words} ({count_words(len(others) + 1)})" if others else words)
    words, rest = ", ".join(shown), len(order) - MOST_TEXTS
    if rest <= 0:
        return words
    return gettext("%(names)s and %(rest)s more") % {"names": words, "rest": count_words(rest)}
