"""What lists of items and labels can be narrowed to."""

from typing import Any

import django_filters
from django.db.models import Q, QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field

from apps.accounts.roles import Role
from apps.common.api.filters import BooleanFilter
from apps.labels.blindness import SETTLED
from apps.labels.models import Gold, Kind, Label
from apps.projects.models import Item
from apps.projects.selectors import role_in
from apps.reviews.models import Comment
from apps.reviews.selectors.comments import SHOWN, narrow_comments
from apps.reviews.selectors.searching import (
    ACTIONS,
    COMMENTED,
    DIFFERING,
    FIELDS,
    STAGES,
    matching,
    read_query,
)

_CHOICES = {
    "stage": STAGES,
    "kind": Kind.choices,
    "basis": Gold.Basis.choices,
    "action": ACTIONS,
    "differ": DIFFERING,
    "comments": COMMENTED,
}
#: Each field of a search; shares go from 0 to 1, days are written 2026-03-31.
_WORDS = {
    "q": 'Words in the text, the id or the context; all must occur, "quoted words" together.',
    "stage": "Where it stands.",
    "label": "What somebody says now; of a set, one of its names.",
    "kind": "A label by this kind of annotator.",
    "annotator": "A label by this annotator (id).",
    "not_by": "No label by this annotator (id).",
    "suggested": "What is suggested.",
    "gold": "What is decided.",
    "basis": "How it was decided.",
    "action": "What a person did with the suggestion.",
    "differ": "Who or what disagrees.",
    "reason": "Why its debate sent it to people (a code).",
    "uncertainty_min": "The debate's uncertainty, at least.",
    "uncertainty_max": "The same, at most.",
    "learned_min": "How unsure the trained model is, at least.",
    "learned_max": "The same, at most.",
    "assigned": "Given to this person (id of the account), 0 for nobody.",
    "comments": "Whether it has comments.",
    "comment": "Words in a comment.",
    "comment_by": "Commented by this person (id of the account).",
    "skipped_by": "Skipped by this person (id of the account), 0 for anybody.",
    "batch": "Came with this import (id).",
    "created_from": "Imported on this day or later.",
    "created_to": "Imported on this day or before.",
    "labelled_from": "With a label of this day or later.",
    "labelled_to": "With a label of this day or before.",
    "decided_from": "Decided on this day or later.",
    "decided_to": "Decided on this day or before.",
    "items": "These items alone: ids with commas between.",
}


class ItemFilter(django_filters.FilterSet):
    """``?queued=&external_id=`` and every field of a search, as the list of items has them."""

    queued = BooleanFilter(method="as_shown")
    external_id = django_filters.CharFilter()

    class Meta:
        model = Item
        fields = ["queued", "external_id"]

    def as_shown(
        self,
        queryset: QuerySet[Item],
        _name: str,
        queued: bool,  # noqa: FBT001 - the signature of a filter method
    ) -> QuerySet[Item]:
        """Whether it waits for people; what is settled and yet to be answered blind does, to a
        reviewer, as in its row."""
        view = self.request.parser_context["view"]
        waits = Q(state__queued=True)
        if role_in(self.request.user, view.project) == Role.REVIEWER:
            waits |= Q(hidden=True, state__stage__in=SETTLED)
        return queryset.filter(waits if queued else ~waits)

    def as_asked(self, queryset: QuerySet[Item], _name: str, _value: str) -> QuerySet[Item]:
        """Nothing yet: all fields of the search are read together."""
        return queryset

    def filter_queryset(self, queryset: QuerySet[Item]) -> QuerySet[Item]:
        """What the search finds. A reviewer finds nothing by what is withheld from them.

        Raises:
            InvalidInput: naming each field whose value cannot be used.
        """
        narrowed: QuerySet[Item] = super().filter_queryset(queryset)
        view = self.request.parser_context["view"]
        query = read_query({name: self.data[name] for name in FIELDS if self.data.get(name)})
        if not query.given:
            return narrowed
        return matching(view.project, query, self.request.user, items=narrowed)


def _documented(name: str) -> django_filters.Filter:
    words = _WORDS[name]
    if name in _CHOICES:
        words += f" One of {', '.join(value for value, _ in _CHOICES[name])}."
    return django_filters.CharFilter(method="as_asked", help_text=words)


ItemFilter.base_filters.update({name: _documented(name) for name in FIELDS})


class LabelFilter(django_filters.FilterSet):
    """``?kind=&annotator=&item=&current=&action=&rejected=``."""

    kind = django_filters.ChoiceFilter(field_name="annotator__kind", choices=Kind.choices)
    annotator = django_filters.CharFilter(field_name="annotator__name")
    item = django_filters.NumberFilter(field_name="item_id", min_value=0, max_value=2**63 - 1)
    action = django_filters.ChoiceFilter(choices=Label.Action.choices)
    current = BooleanFilter(method="narrow_to_current", label="What is said now")
    rejected = BooleanFilter()

    class Meta:
        model = Label
        fields = ["kind", "annotator", "item", "action", "current", "rejected"]

    def narrow_to_current(
        self,
        queryset: QuerySet[Label],
        _name: str,
        current: bool,  # noqa: FBT001 - the signature of a filter method
    ) -> QuerySet[Label]:
        """What stands, or what was superseded or withdrawn, or only rejects a suggestion."""
        stands: dict[str, Any] = {
            "superseded_by__isnull": True,
            "withdrawn": False,
            "rejected": False,
        }
        return queryset.filter(**stands) if current else queryset.exclude(**stands)


class CommentFilter(django_filters.FilterSet):
    """``?shown=&item=``."""

    shown = django_filters.ChoiceFilter(choices=[*SHOWN.items()], method="narrow_to_shown")
    item = extend_schema_field(OpenApiTypes.INT)(
        django_filters.NumberFilter(
            field_name="item_id", min_value=0, max_value=2**63 - 1, label="Of this item alone."
        )
    )

    class Meta:
        model = Comment
        fields = ["shown", "item"]

    def narrow_to_shown(
        self, queryset: QuerySet[Comment], _name: str, shown: str
    ) -> QuerySet[Comment]:
        """As the page of comments has them."""
        return narrow_comments(queryset, self.request.user, shown)
