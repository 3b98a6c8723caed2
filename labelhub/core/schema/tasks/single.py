"""One label: the value is its name (``str``)."""

from labelhub.core.schema.tasks.base import LabelType


class Single(LabelType):
    """Exactly one of the schema's labels."""

    name = "single"
    title = "One label"
    summary = "Exactly one of your labels fits."
    example = "positive · negative"
