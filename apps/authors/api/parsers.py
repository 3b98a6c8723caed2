"""Bodies that are a file."""

from apps.authors.services.features import MOST_BYTES
from apps.common.api.parsers import TableParser


class FeatureTableParser(TableParser):
    """A table of features."""

    most = MOST_BYTES
    what = "A file of features"
