"""Label schemas: the question about each item and its possible answers."""

from labelhub.core.schema.definition import (
    COLORS,
    LabelDef,
    Schema,
    SchemaError,
    Value,
    ValueNotOffered,
    fold,
    unstorable,
    value_key,
    value_words,
)
from labelhub.core.schema.parser import MAX_LABELS, parse_schema, schema_from_names
from labelhub.core.schema.studio import role_of, schema_from_studio
from labelhub.core.schema.tasks import TASKS, LabelType

__all__ = [
    "COLORS",
    "MAX_LABELS",
    "TASKS",
    "LabelDef",
    "LabelType",
    "Schema",
    "SchemaError",
    "Value",
    "ValueNotOffered",
    "fold",
    "parse_schema",
    "role_of",
    "schema_from_names",
    "schema_from_studio",
    "unstorable",
    "value_key",
    "value_words",
]
