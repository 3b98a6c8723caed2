"""Querysets of the ledger; its rows cannot be changed through them."""

from collections.abc import Collection
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from django.db import models
from django.db.models import Exists, Max, OuterRef, Q, QuerySet

from labelhub.core.errors import LabelhubError

if TYPE_CHECKING:
    from apps.labels.models import Gold, ItemState, Label  # noqa: F401 - named in quotes below

Row = TypeVar("Row", bound=models.Model)


class LedgerIsAppendOnly(LabelhubError):
    """Ledger rows are never changed; write a superseding one instead."""

    code = "append_only"


class AppendOnlyQuerySet(models.QuerySet[Row]):
    """Refuses bulk changes of rows; a database trigger refuses the others."""

    def update(self, **kwargs: Any) -> NoReturn:
        """Refused."""
        raise LedgerIsAppendOnly("Ledger rows are never changed: record a superseding one.")

    def bulk_update(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refused."""
        raise LedgerIsAppendOnly("Ledger rows are never changed: record a superseding one.")


class LabelQuerySet(AppendOnlyQuerySet["Label"]):
    """Labels."""

    def standing(self) -> "LabelQuerySet":
        """The last row of each annotator, also a rejection: neither superseded nor withdrawn."""
        return self.filter(superseded_by__isnull=True, withdrawn=False)

    def current(self) -> "LabelQuerySet":
        """The current label of each annotator: an answer or an abstention, no mere rejection."""
        return self.standing().filter(rejected=False)

    def standing_votes(self) -> "LabelQuerySet":
        """As :meth:`current`, without rulings."""
        return self.current().exclude(role__in=self.model.SETTLING)

    def votes_before_rulings(self) -> "LabelQuerySet":
        """The last votes of people who settled the item later, under the labels of their time."""
        rows, rulings = self.model.objects, self.model.SETTLING
        later = rows.filter(
            item=OuterRef("item"), annotator=OuterRef("annotator"), pk__gt=OuterRef("pk")
        ).exclude(role__in=(*rulings, *self.model.ASIDE))
        ruled = rows.filter(role__in=rulings, supersedes__isnull=False)
        votes = self.filter(pk__in=ruled.values("supersedes"), withdrawn=False, rejected=False)
        return votes.exclude(role__in=rulings).filter(~Exists(later))

    def independent(self) -> "LabelQuerySet":
        """Standing votes and those before rulings: at most one of an annotator on an item. A ruling
        follows from the votes of others and says nothing of agreement."""
        return self.standing_votes() | self.votes_before_rulings()

    def by_people(self) -> "LabelQuerySet":
        """Labels of crowd workers and experts."""
        return self.filter(annotator__kind__in=["crowd", "expert"])


class GoldQuerySet(AppendOnlyQuerySet["Gold"]):
    """Gold."""

    def current(self) -> "GoldQuerySet":
        """The current decisions: neither superseded nor withdrawn."""
        return self.filter(superseded_by__isnull=True, withdrawn=False)

    def made_under(self, versions: Collection[int]) -> "GoldQuerySet":
        """The last decisions that were made under these versions of the labels (their ids), as the
        newest of them has them: a change of labels that carried them to another version, or unmade
        them there, is not a decision."""
        # By item as a whole: one by one, SQLite would go through all gold for each item.
        under, made = self.filter(schema__in=versions), self.filter(change=None)
        decided = made.filter(pk__in=_newest(made), schema__in=versions)
        # Merged labels may agree at last: then the change itself decides.
        carried = ~Q(item__in=made.values("item"))
        return under.filter(
            Q(item__in=decided.values("item")) | carried, pk__in=_newest(under), withdrawn=False
        )


def _newest(gold: GoldQuerySet) -> QuerySet["Gold", Any]:
    """The ids of the last rows of each item."""
    return gold.order_by().values("item").annotate(last=Max("pk")).values("last")


class ItemStateQuerySet(models.QuerySet["ItemState"]):
    """Item states: the queue is a selector over these."""

    def awaiting_review(self) -> "ItemStateQuerySet":
        """Items that wait for a person's label, in the order of the queue."""
        return self.filter(queued=True).order_by("-priority", "item_id")
