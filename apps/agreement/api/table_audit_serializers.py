"""Shapes of the audit of tables and of tests of significance on the wire."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.agreement.table_audit.reading import Given
from labelhub.core.agreement.audit.differences import MOST_ITEMS
from labelhub.core.agreement.audit.tables import LONGEST_TEXT, MOST_ROWS

MOST_VALUES = 100_000
MOST_COUNT = 10**9

_ROWS = {"type": "array", "items": {"type": "object", "additionalProperties": True}}


@extend_schema_field({"oneOf": [{"type": "string"}, _ROWS]})
class TableField(serializers.Field[Given, Any, Any, Any]):
    """A table as text, or as a list of rows, each an object of column names and cells."""

    def to_internal_value(self, data: Any) -> Given:
        """As it came; what it holds is for the audit to read."""
        if isinstance(data, str):
            if len(data) > LONGEST_TEXT:
                raise serializers.ValidationError(f"The text is over {LONGEST_TEXT:,} characters.")
            return data
        if isinstance(data, list) and all(isinstance(row, dict) for row in data):
            if len(data) > MOST_ROWS:
                raise serializers.ValidationError(f"The table has more than {MOST_ROWS:,} rows.")
            return data
        raise serializers.ValidationError("A table is a text, or a list of objects, one a row.")

    def to_representation(self, value: Any) -> Any:
        """Tables are only taken, never given back."""
        return value


class AuditRequestSerializer(serializers.Serializer[Any]):
    """A table and what is known besides."""

    table = TableField(help_text="CSV, TSV, Markdown, LaTeX or JSON as text, or a list of rows.")
    items = serializers.IntegerField(
        required=False, min_value=1, max_value=MOST_COUNT, help_text="Items each row is about."
    )
    positives = serializers.IntegerField(
        required=False, min_value=1, max_value=MOST_COUNT, help_text="Positives among the items."
    )
    calls = serializers.IntegerField(
        required=False, min_value=1, max_value=100, help_text="Calls a D-rate rests on."
    )
    runs = TableField(required=False, help_text="The single runs that the table averages.")


class RowNameSerializer(serializers.Serializer[Any]):
    """A row by its number, from 1, and the cells that name it."""

    number = serializers.IntegerField()
    cells = serializers.DictField(child=serializers.CharField())


class FindingSerializer(serializers.Serializer[Any]):
    """One thing that does not follow."""

    code = serializers.CharField()
    severity = serializers.ChoiceField(choices=["fault", "doubt", "note"])
    sentence = serializers.CharField()
    row = RowNameSerializer(allow_null=True, help_text="Null: the whole table.")
    columns = serializers.ListField(child=serializers.CharField())
    printed = serializers.DictField()
    follows = serializers.DictField()
    repair = serializers.DictField(child=serializers.FloatField(), allow_null=True)
    alternatives = serializers.ListField(child=serializers.DictField())


class OneAuditSerializer(serializers.Serializer[Any]):
    """The audit of one table."""

    name = serializers.CharField(required=False)
    runs = serializers.CharField(required=False, help_text="The table it was held against.")
    rows = serializers.IntegerField(required=False)
    orientation = serializers.ListField(
        child=serializers.ChoiceField(choices=["as_printed", "swapped", "undecidable"]),
        required=False,
        help_text="Of each row: how FP and FN stand.",
    )
    checked = serializers.DictField(
        child=serializers.IntegerField(),
        required=False,
        help_text="How many figures were held against others, by what they were held against;"
        " empty: there was nothing to check.",
    )
    findings = FindingSerializer(many=True, required=False)
    t_values = serializers.ListField(child=serializers.DictField(), required=False)
    p_values = serializers.ListField(child=serializers.DictField(), required=False)


class AuditSerializer(OneAuditSerializer):
    """The audit of the table, or ``tables`` with one for each where the text held many."""

    faults = serializers.IntegerField(help_text="How much cannot be right.")
    tables = OneAuditSerializer(many=True, required=False)


class McNemarRequestSerializer(serializers.Serializer[Any]):
    """Discordant items: ``b`` only the one gets right, ``c`` only the other."""

    b = serializers.IntegerField(min_value=0, max_value=MOST_COUNT)
    c = serializers.IntegerField(min_value=0, max_value=MOST_COUNT)


class DiscordantRequestSerializer(serializers.Serializer[Any]):
    """A printed p-value: as text where noughts at its end count, or as a number."""

    p = serializers.CharField(max_length=40, help_text='As printed: ".230" or 0.23.')
    difference = serializers.IntegerField(
        min_value=-MOST_ITEMS, max_value=MOST_ITEMS, help_text="b - c, in items."
    )
    items = serializers.IntegerField(min_value=1, max_value=MOST_ITEMS)


class TestsRequestSerializer(serializers.Serializer[Any]):
    """At least one part."""

    paired = serializers.ListField(
        child=serializers.ListField(child=serializers.FloatField(), max_length=MOST_VALUES),
        min_length=2,
        max_length=2,
        required=False,
        help_text="Two lists of values, one for each source: paired and Welch's t test.",
    )
    mcnemar = McNemarRequestSerializer(required=False)
    p_values = serializers.ListField(
        child=serializers.FloatField(min_value=0, max_value=1, allow_null=True),
        min_length=1,
        max_length=MOST_VALUES,
        required=False,
        help_text="To be adjusted for their number: Holm, Benjamini–Hochberg, –Yekutieli.",
    )
    discordant = DiscordantRequestSerializer(required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Something must be asked."""
        if not attrs:
            raise serializers.ValidationError(
                "Send at least one of paired, mcnemar, p_values and discordant."
            )
        return attrs


class TTestSerializer(serializers.Serializer[Any]):
    """A t test; null numbers come with the reason."""

    n = serializers.IntegerField(required=False)
    difference = serializers.FloatField(allow_null=True, required=False)
    t = serializers.FloatField(allow_null=True)
    df = serializers.FloatField(allow_null=True, required=False)
    p = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True, required=False)
    high = serializers.FloatField(allow_null=True, required=False)
    reason = serializers.CharField(allow_blank=True)
    method = serializers.CharField(required=False)


class TTestsSerializer(serializers.Serializer[Any]):
    """Both tests of the same two lists."""

    paired = TTestSerializer()
    welch = TTestSerializer()


class ChiSquareSerializer(serializers.Serializer[Any]):
    """A chi-square statistic; null where there is no discordant item."""

    statistic = serializers.FloatField(allow_null=True)
    df = serializers.IntegerField()
    p = serializers.FloatField(allow_null=True)


class McNemarSerializer(serializers.Serializer[Any]):
    """McNemar's test in all forms; the exact one is the one to use."""

    exact = serializers.FloatField()
    mid_p = serializers.FloatField()
    chi_square = ChiSquareSerializer()
    chi_square_corrected = ChiSquareSerializer()


class AdjustedSerializer(serializers.Serializer[Any]):
    """Adjusted p-values in the order sent."""

    holm = serializers.ListField(child=serializers.FloatField(allow_null=True))
    benjamini_hochberg = serializers.ListField(child=serializers.FloatField(allow_null=True))
    benjamini_yekutieli = serializers.ListField(child=serializers.FloatField(allow_null=True))
    level = serializers.FloatField()
    below_level = serializers.DictField(child=serializers.IntegerField())


class DiscordantSerializer(serializers.Serializer[Any]):
    """Pairs (b, c) that give the printed p-value, by form of the test."""

    exact = serializers.ListField(child=serializers.ListField(child=serializers.IntegerField()))
    chi_square = serializers.ListField(
        child=serializers.ListField(child=serializers.IntegerField())
    )
    corrected = serializers.ListField(child=serializers.ListField(child=serializers.IntegerField()))
    reached = serializers.BooleanField()


class TestsSerializer(serializers.Serializer[Any]):
    """The answers to what was sent, by name."""

    paired = TTestsSerializer(required=False)
    mcnemar = McNemarSerializer(required=False)
    p_values = AdjustedSerializer(required=False)
    discordant = DiscordantSerializer(required=False)
