"""REST for a site's managers: the catalogue of items."""

from typing import Any, ClassVar

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.generics import get_object_or_404
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from apps.authors.api.access import SiteViewSet
from apps.common.api.parsers import TABLE, TableParser
from apps.echo.models import CatalogueItem
from apps.echo.selectors.offers import CatalogueFilter
from apps.echo.services.catalogue import import_catalogue, set_active
from apps.echo.services.configuration import ensure_echo
from labelhub.core.echo.recommending.catalogue import MOST_BYTES
from labelhub.core.errors import InvalidInput

_ITEMS = OpenApiExample(
    "A tent",
    value=[
        {
            "id": "tent-2",
            "title": "Two-person tent",
            "text": "A light tent that is up in five minutes.",
            "link": "/shop/tent-2",
            "price": "129.00",
            "currency": "EUR",
            "attributes": {"experience_level": ["first_time", "some"]},
        }
    ],
    request_only=True,
    media_type="application/json",
)


class CatalogueItemSerializer(serializers.ModelSerializer[CatalogueItem]):
    """An item; ``definition`` has its imported fields."""

    id = serializers.CharField(source="ref", read_only=True)
    definition = serializers.DictField(read_only=True)

    class Meta:
        model = CatalogueItem
        fields = ["id", "active", "changed_at", "definition"]
        read_only_fields = ["changed_at"]
        extra_kwargs: ClassVar[dict[str, Any]] = {"active": {"required": True}}


class CatalogueImportQuerySerializer(serializers.Serializer[Any]):
    """Options of a catalogue import."""

    replace = serializers.BooleanField(
        required=False, default=False, help_text="Stop offering items that are not in it."
    )
    strict = serializers.BooleanField(
        required=False, default=False, help_text="If any row has a fault, import nothing."
    )


class CatalogueFileSerializer(serializers.Serializer[Any]):
    """A form with a file."""

    file = serializers.FileField()


class RowFaultSerializer(serializers.Serializer[Any]):
    """Why a row was not imported."""

    row = serializers.IntegerField(help_text="Row number as in a spreadsheet; in JSON, from 1.")
    field = serializers.CharField(allow_blank=True)
    message = serializers.CharField()


class UnusedAttributeSerializer(serializers.Serializer[Any]):
    """A feature or value of some rows that the site does not have, so that it has no effect."""

    feature = serializers.CharField()
    value = serializers.CharField(
        allow_blank=True,
        help_text="Not among the feature's values; empty if the feature is unknown.",
    )
    rows = serializers.IntegerField(help_text="Number of imported rows with it.")


class CatalogueImportedSerializer(serializers.Serializer[Any]):
    """The result of a catalogue import."""

    created = serializers.IntegerField()
    changed = serializers.IntegerField()
    unchanged = serializers.IntegerField()
    retired = serializers.IntegerField(help_text="Items no longer offered.")
    errors = RowFaultSerializer(  # type: ignore[assignment]  # as imports of items name it
        many=True, help_text="At most 100."
    )
    unused = UnusedAttributeSerializer(
        many=True, help_text="Most frequent first, at most 100; these rows were imported."
    )
    ignored = serializers.ListField(
        child=serializers.CharField(), help_text="Columns that LabelHub does not use."
    )


class CatalogueTableParser(TableParser):
    """A table of items."""

    most = MOST_BYTES
    what = "A catalogue"


class CatalogueJsonParser(CatalogueTableParser):
    """A JSON list of items, as bytes."""

    media_type = "application/json"


class CatalogueViewSet(SiteViewSet):
    """A site's catalogue."""

    serializer_class = CatalogueItemSerializer
    filterset_class = CatalogueFilter
    parser_classes = [CatalogueJsonParser, CatalogueTableParser, MultiPartParser]

    @extend_schema(operation_id="site_echo_catalogue")
    def list(self, request: Request, **_: str) -> Response:
        """List the catalogue.

        In import order, with items that are no longer offered.
        """
        return self.list_page(CatalogueItem.objects.filter(echo=self.site.pk))

    @extend_schema(
        operation_id="site_echo_catalogue_import",
        parameters=[CatalogueImportQuerySerializer],
        request={
            "application/json": OpenApiTypes.BINARY,
            "text/csv": OpenApiTypes.BINARY,
            "multipart/form-data": CatalogueFileSerializer,
        },
        responses={
            200: CatalogueImportedSerializer,
            422: OpenApiResponse(
                description="No row is valid, or with `strict` a row has a fault; `errors` has the "
                "row and field. Nothing is imported."
            ),
        },
        examples=[_ITEMS],
    )
    def create(self, request: Request, **_: str) -> Response:
        """Import a catalogue.

        Send a CSV table or a JSON list as the body, or a file (multipart, field ``file``). An item
        with a known ``id`` replaces the old one. Valid rows are imported; the response lists the
        faults of invalid rows, and features that the site does not have.
        """
        options = self.read_query(CatalogueImportQuerySerializer)
        table: Any = request.data.get(TABLE)
        if not isinstance(table, bytes):
            upload: Any = request.data.get("file")
            if not hasattr(upload, "read"):
                raise InvalidInput.at("file", "Send a table, a JSON list or a file.")
            CatalogueTableParser.check_size(upload.size)
            table = upload.read()
        made = import_catalogue(ensure_echo(self.site), table, **options)
        return Response(CatalogueImportedSerializer(made).data)


class CatalogueItemViewSet(SiteViewSet):
    """One item."""

    serializer_class = CatalogueItemSerializer

    def item(self, ref: str) -> CatalogueItem:
        """The item with the site's own id."""
        return get_object_or_404(CatalogueItem, echo=self.site.pk, ref=ref)

    def retrieve(self, request: Request, ref: str, **_: str) -> Response:
        """Show a catalogue item."""
        return Response(self.get_serializer(self.item(ref)).data)

    @extend_schema(request=CatalogueItemSerializer)
    def partial_update(self, request: Request, ref: str, **_: str) -> Response:
        """Offer a catalogue item, or stop offering it.

        Only ``active`` can change here. Import the item again to change its other fields.
        """
        active = self.read_body(CatalogueItemSerializer)["active"]
        item = self.item(ref)
        set_active(item, active=active)
        return Response(self.get_serializer(item).data)
