"""One label: the value is its name (``str``)."""

from labelhub.core.schema.tasks.base import LabelType
from labelhub.core.texts import gettext_noop


class Single(LabelType):
    """Exactly one of the schema's labels."""

    name = "single"
    title = gettext_noop("One label")
    summary = gettext_noop("Exactly one of your labels fits.")
    example = "positive · negative"
