"""REST: single items, and which of them were changed or deleted."""

from typing import Any, cast

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.response import Response

from apps.accounts.http import SignedInApiRequest
from apps.accounts.models import User
from apps.common.api.feeds import FeedPagination
from apps.common.validation import refuse_unknown
from apps.exchange.services.items import change_item, delete_item
from apps.projects.api.viewsets import ProjectViewSet
from apps.projects.models import Item, ItemChange
from apps.reviews.queue.selectors import items_of
from apps.reviews.queue.serializers import ItemSerializer
from labelhub.core.errors import NotFound


class ItemChangeSerializer(serializers.Serializer[Any]):
    """What to replace."""

    text = serializers.CharField(required=False, trim_whitespace=False)
    context = serializers.ListField(  # type: ignore[assignment]  # the item's name
        child=serializers.DictField(child=serializers.CharField(trim_whitespace=False)),
        required=False,
        help_text='`[{"role": "user", "text"}]`, with the role user or assistant.',
    )
    question = serializers.CharField(required=False, allow_blank=True)
    options = serializers.ListField(child=serializers.CharField(), required=False)
    meta = serializers.DictField(required=False, help_text="The whole of it.")


class DeleteQuerySerializer(serializers.Serializer[Any]):
    """What goes with the item."""

    labels = serializers.ChoiceField(
        choices=["keep", "delete"],
        default="keep",
        help_text="Of an item that has labels or debates: `keep` refuses, `delete` deletes them.",
    )


class ProjectItemViewSet(ProjectViewSet):
    """One item of the project, by its number."""

    lookup_url_kwarg = "pk"
    serializer_class = ItemSerializer

    def item(self) -> Item:
        """The item, as the caller may see it.

        Raises:
            NotFound: the project has none of this number.
        """
        user = cast(User, self.request.user)
        item = items_of(self.project, user).filter(pk=self.kwargs["pk"]).first()
        if item is None:
            raise NotFound("The project has no such item.")
        return item

    @extend_schema(operation_id="projects_items_retrieve")
    def retrieve(self, request: SignedInApiRequest, **_: Any) -> Response:
        """Show an item."""
        return Response(self.get_serializer(self.item()).data)

    @extend_schema(operation_id="projects_items_partial_update", request=ItemChangeSerializer)
    def partial_update(self, request: SignedInApiRequest, **_: Any) -> Response:
        """Change an item.

        ``meta`` at any time; its text, context, question and options only while nobody has
        labelled it (409 ``item_in_use``), because labels refer to them.
        """
        refuse_unknown(request.data, ItemChangeSerializer().fields, "An item")
        changes = self.read_body(ItemChangeSerializer)
        change_item(item=self.item(), actor=request.user, **changes)
        return self.retrieve(request)

    @extend_schema(
        operation_id="projects_items_destroy",
        parameters=[DeleteQuerySerializer],
        responses={204: None},
    )
    def destroy(self, request: SignedInApiRequest, **_: Any) -> Response:
        """Delete an item.

        For good. One with labels or debates only with ``labels=delete``, which deletes them too.
        """
        labels = self.read_query(DeleteQuerySerializer)["labels"]
        delete_item(item=self.item(), actor=request.user, with_labels=labels == "delete")
        return Response(status=status.HTTP_204_NO_CONTENT)


class ItemChangeRowSerializer(serializers.ModelSerializer[ItemChange]):
    """That an item was changed or deleted."""

    item = serializers.IntegerField(source="item_id", help_text="Its number.")

    class Meta:
        model = ItemChange
        fields = ["id", "item", "external_id", "deleted", "created_at"]
        read_only_fields = fields


class ItemChangesViewSet(ProjectViewSet):
    """Which items were changed or deleted."""

    serializer_class = ItemChangeRowSerializer
    pagination_class = FeedPagination

    @extend_schema(operation_id="projects_item_changes_list")
    def list(self, request: SignedInApiRequest, **_: str) -> Response:
        """List changes of items.

        The oldest first: which items were changed or deleted through this interface. With
        ``since``, only what came after.
        """
        return self.list_page(ItemChange.objects.filter(project=self.project))
