"""Items as lists and saved filters over REST."""

from typing import Any

import django_filters
from django.db.models import Q, QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.generics import get_object_or_404
from rest_framework.response import Response

from apps.accounts.http import SignedInApiRequest
from apps.accounts.roles import Right, Role
from apps.common.api.filters import BooleanFilter
from apps.common.api.viewsets import ApiViewSet
from apps.labels.blindness import SETTLED
from apps.projects.api.viewsets import ProjectViewSet
from apps.projects.models import Item
from apps.projects.selectors import role_in
from apps.reviews.adjudication.docket import project_to_adjudicate
from apps.reviews.adjudication.opinions import readable_opinions
from apps.reviews.models import SavedFilter
from apps.reviews.queue.selectors import items_of, visible_items
from apps.reviews.queue.serializers import ItemSerializer, OpinionsSerializer
from apps.reviews.search.matching import matching_items
from apps.reviews.search.query import FIELDS, SEARCH_FIELDS, Query, read_query
from apps.reviews.search.saved_filters import (
    delete_filter,
    first_settings,
    get_filter,
    save_filter,
    set_first_filter,
)
from labelhub.core.errors import InvalidInput, NotFound

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
        return matching_items(view.project, query, self.request.user, items=narrowed)


def _documented(name: str) -> django_filters.Filter:
    words = _WORDS[name]
    if choices := SEARCH_FIELDS[name].choices:
        words += f" One of {', '.join(value for value, _ in choices)}."
    return django_filters.CharFilter(method="as_asked", help_text=words)


ItemFilter.base_filters.update({name: _documented(name) for name in FIELDS})


class ItemsViewSet(ProjectViewSet):
    """The project's items and where they stand."""

    serializer_class = ItemSerializer
    filterset_class = ItemFilter

    @extend_schema(operation_id="projects_items_list")
    def list(self, request: SignedInApiRequest, **_: str) -> Response:
        """List items.

        In the order of their import, with where they stand.
        """
        return self.list_page(items_of(self.project, request.user))


class ItemViewSet(ApiViewSet):
    """One item, by its id alone."""

    lookup_url_kwarg = "pk"
    serializer_class = ItemSerializer

    @extend_schema(operation_id="items_retrieve")
    def retrieve(self, request: SignedInApiRequest, pk: int) -> Response:
        """Show an item."""
        item = get_object_or_404(visible_items(request.user), pk=pk)
        return Response(self.get_serializer(item).data)

    @extend_schema(responses=OpinionsSerializer)
    @action(detail=True)
    def opinions(self, request: SignedInApiRequest, pk: int) -> Response:
        """Show every opinion of an item.

        What everybody says of it, and why. For experts, of what waits for them or what they have
        labelled.
        """
        item = Item.objects.visible_to(request.user).select_related("project").filter(pk=pk).first()
        if item is None:
            raise NotFound(f"There is no item {pk}, or you may not know of it.")
        project = project_to_adjudicate(request.user, item.project.slug)
        return Response(OpinionsSerializer(readable_opinions(project, request.user, pk)).data)


QUERY_HELP = "Fields of the search, as ``items/`` takes them."


class SavedFilterSerializer(serializers.ModelSerializer[SavedFilter]):
    """A search with a name."""

    query = serializers.DictField(help_text=QUERY_HELP)
    first = serializers.SerializerMethodField(help_text="Whether its items come first.")

    class Meta:
        model = SavedFilter
        fields = ["id", "name", "query", "first", "created_at"]

    def get_first(self, saved: SavedFilter) -> bool:
        return bool(saved.pk == self.context.get("first"))


class NewFilterSerializer(serializers.Serializer[Any]):
    """A search to save; under a name that is taken it replaces what was there."""

    name = serializers.CharField(max_length=100)
    query = serializers.DictField(help_text=QUERY_HELP)
    first = serializers.BooleanField(
        allow_null=True,
        default=None,
        help_text="Let its items come first from now on, or no longer.",
    )


class SavedFilterViewSet(ProjectViewSet):
    """The saved filters of a project, for its managers."""

    read_right = Right.MANAGE
    lookup_url_kwarg = "filter_id"
    serializer_class = SavedFilterSerializer

    def get_serializer_context(self) -> dict[str, Any]:
        settings = first_settings(self.project)
        first = settings.first_filter_id if settings else None
        return super().get_serializer_context() | {"first": first}

    def list(self, request: SignedInApiRequest, **_: str) -> Response:
        """List saved filters.

        By name.
        """
        return self.list_page(SavedFilter.objects.filter(project=self.project))

    @extend_schema(operation_id="filter_save", request=NewFilterSerializer)
    def create(self, request: SignedInApiRequest, **_: str) -> Response:
        """Save a search under a name."""
        sent = self.read_body(NewFilterSerializer)
        saved = save_filter(
            project=self.project,
            actor=request.user,
            name=sent["name"],
            query=read_search(sent["query"]),
        )
        self._put_first(saved, first=sent["first"])
        return Response(self.get_serializer(saved).data, status=status.HTTP_201_CREATED)

    @extend_schema(operation_id="filter_read")
    def retrieve(self, request: SignedInApiRequest, filter_id: int, **_: str) -> Response:
        """Show a saved filter."""
        return Response(self.get_serializer(get_filter(self.project, filter_id)).data)

    def destroy(self, request: SignedInApiRequest, filter_id: int, **_: str) -> Response:
        """Delete a saved filter.

        Items that came first by it go back among the others.
        """
        delete_filter(project=self.project, filter_id=filter_id)
        return Response(status=status.HTTP_204_NO_CONTENT)

    def _put_first(self, saved: SavedFilter, *, first: bool | None) -> None:
        if first is None:
            return
        if first or self.get_serializer_context()["first"] == saved.pk:
            set_first_filter(project=self.project, chosen=saved if first else None)


def read_search(query: dict[str, Any]) -> Query:
    """The search in a body; a wrong field is named below ``query``."""
    try:
        return read_query(query, strict=True)
    except InvalidInput as error:
        for fault in error.data.get("errors", []):
            fault["field"] = f"query.{fault['field']}"
        raise
