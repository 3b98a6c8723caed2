"""Catalogues as request bodies."""

from apps.common.api.parsers import TableParser
from labelhub.core.echo.recommending.catalogue import MOST_BYTES


class CatalogueTableParser(TableParser):
    """A table of items."""

    most = MOST_BYTES
    what = "A catalogue"


class CatalogueJsonParser(CatalogueTableParser):
    """A JSON list of items, likewise as bytes."""

    media_type = "application/json"
