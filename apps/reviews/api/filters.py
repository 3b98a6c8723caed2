"""What lists of items and labels can be narrowed to."""

from typing import Any

import django_filters
from django.db.models import Q, QuerySet

from apps.labels.models import ItemState, Kind, Label
from apps.projects.models import Item


class ItemFilter(django_filters.FilterSet):
    """``?stage=&queued=&external_id=&q=``."""

    stage = django_filters.ChoiceFilter(method="narrow_to_stage", choices=ItemState.Stage.choices)
    queued = django_filters.BooleanFilter(field_name="state__queued")
    external_id = django_filters.CharFilter()
    q = django_filters.CharFilter(method="search", label="In the text or the id")

    class Meta:
        model = Item
        fields = ["stage", "queued", "external_id", "q"]

    def narrow_to_stage(self, queryset: QuerySet[Item], _name: str, stage: str) -> QuerySet[Item]:
        """Items that are shown to stand there: one that is yet to be audited blind stands as new,
        not as suggested."""
        shown = Q(state__stage=stage)
        if stage == ItemState.Stage.SUGGESTED:
            shown &= Q(hidden=False)
        elif stage == ItemState.Stage.NEW:
            shown |= Q(state__stage=ItemState.Stage.SUGGESTED, hidden=True)
        return queryset.filter(shown)

    def search(self, queryset: QuerySet[Item], _name: str, words: str) -> QuerySet[Item]:
        """Items whose text or external id contains ``words``."""
        return queryset.filter(Q(text__icontains=words) | Q(external_id__icontains=words))


class LabelFilter(django_filters.FilterSet):
    """``?kind=&annotator=&item=&current=&action=``."""

    kind = django_filters.ChoiceFilter(field_name="annotator__kind", choices=Kind.choices)
    annotator = django_filters.CharFilter(field_name="annotator__name")
    item = django_filters.NumberFilter(field_name="item_id", min_value=0, max_value=2**63 - 1)
    action = django_filters.ChoiceFilter(choices=Label.Action.choices)
    current = django_filters.BooleanFilter(method="narrow_to_current", label="What is said now")

    class Meta:
        model = Label
        fields = ["kind", "annotator", "item", "action", "current"]

    def narrow_to_current(
        self,
        queryset: QuerySet[Label],
        _name: str,
        current: bool,  # noqa: FBT001 - the signature of a filter method
    ) -> QuerySet[Label]:
        """What stands, or what was superseded or withdrawn."""
        stands: dict[str, Any] = {"superseded_by__isnull": True, "withdrawn": False}
        return queryset.filter(**stands) if current else queryset.exclude(**stands)
