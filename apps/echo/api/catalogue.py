"""REST for a site's managers: what can be offered."""

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiResponse, extend_schema
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from apps.authors.api.access import SiteViewSet
from apps.common.api.parsers import TABLE, TableParser
from apps.echo.api.serializers import (
    CatalogueFileSerializer,
    CatalogueImportedSerializer,
    CatalogueImportQuerySerializer,
    CatalogueItemSerializer,
    CatalogueQuerySerializer,
)
from apps.echo.selectors.records import item_called, items_of
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


class CatalogueTableParser(TableParser):
    """A table of items."""

    most = MOST_BYTES
    what = "A catalogue"


class CatalogueJsonParser(CatalogueTableParser):
    """A JSON list of items, likewise as bytes."""

    media_type = "application/json"


class CatalogueViewSet(SiteViewSet):
    """A site's catalogue."""

    serializer_class = CatalogueItemSerializer
    parser_classes = [CatalogueJsonParser, CatalogueTableParser, MultiPartParser]

    @extend_schema(operation_id="site_echo_catalogue", parameters=[CatalogueQuerySerializer])
    def list(self, request: Request, **_: str) -> Response:
        """List the catalogue.

        In the order in which items came, also those that are offered no more.
        """
        asked = self.read_query(CatalogueQuerySerializer)
        return self.list_page(items_of(self.site, asked["q"], active=asked["active"]))

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
                description="No row can be used, or `strict` and a row has a fault; `errors` names "
                "row and field, and nothing is changed."
            ),
        },
        examples=[_ITEMS],
    )
    def create(self, request: Request, **_: str) -> Response:
        """Import a catalogue.

        A CSV table or a JSON list as the body, or a file (multipart, field ``file``). What has a
        known ``id`` takes its place; good rows go in, bad ones are told, and so is what they say of
        features that the site does not have.
        """
        options = self.read_query(CatalogueImportQuerySerializer)
        made = import_catalogue(ensure_echo(self.site), _table(request), **options)
        return Response(CatalogueImportedSerializer(made).data)


class CatalogueItemViewSet(SiteViewSet):
    """One item."""

    serializer_class = CatalogueItemSerializer

    def retrieve(self, request: Request, ref: str, **_: str) -> Response:
        """Show a catalogue item.

        As it was imported.
        """
        return Response(self.get_serializer(item_called(self.site, ref)).data)

    @extend_schema(request=CatalogueItemSerializer)
    def partial_update(self, request: Request, ref: str, **_: str) -> Response:
        """Offer a catalogue item, or no more.

        Only ``active`` changes here; everything else by importing the item again.
        """
        active = self.read_body(CatalogueItemSerializer)["active"]
        item = item_called(self.site, ref)
        set_active(item, active=active)
        return Response(self.get_serializer(item).data)


def _table(request: Request) -> bytes:
    data: Any = request.data
    if isinstance(data.get(TABLE), bytes):
        return bytes(data[TABLE])
    upload = data.get("file")
    if upload is None or not hasattr(upload, "read"):
        raise InvalidInput.at("file", "Nothing was sent; post a table, a JSON list or a file.")
    CatalogueTableParser.check_size(upload.size)
    return bytes(upload.read())
