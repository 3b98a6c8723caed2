"""REST: how far LLM, crowd, expert and author agree, evaluation against gold, and the gold."""

from typing import Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.http import SignedInApiRequest
from apps.agreement.evaluation import evaluation_report, gold_rows
from apps.agreement.report.publication import (
    REFERENCES,
    TABLES,
    csv_file,
    latex_file,
    page_reference,
    paper_tables,
)
from apps.agreement.report.services import agreement_report
from apps.agreement.report.slices import OTHERS, Slice, annotator_title, find_annotator_id
from apps.common.api.negotiation import OneRenderer
from apps.common.charts.files import attachment
from apps.labels.models import Gold
from apps.projects.api.viewsets import ProjectViewSet

#: Form of tables → ending, media type and writer of the file.
FILES = {"csv": ("csv", "text/csv", csv_file), "latex": ("tex", "application/x-tex", latex_file)}


class FigureSerializer(serializers.Serializer[Any]):
    """A number with its interval; ``value`` null comes with the ``reason``."""

    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True, required=False)
    high = serializers.FloatField(allow_null=True, required=False)
    n = serializers.IntegerField(required=False)
    method = serializers.CharField(required=False)
    reason = serializers.CharField(required=False)


class SliceSerializer(serializers.Serializer[Any]):
    """Which part of the ledger; all of it by default."""

    kind = serializers.CharField(required=False, help_text="Only this kind of annotator.")
    annotator = serializers.CharField(
        required=False,
        allow_blank=True,
        help_text="Only this annotator, by number or by a name that only one has.",
    )
    run = serializers.IntegerField(required=False, help_text="Of machines only this run's labels.")
    replicate = serializers.IntegerField(required=False, min_value=1)
    label = serializers.CharField(  # type: ignore[assignment]  # a serializer has an attribute of that name
        required=False, help_text="Every answer becomes this label, or not."
    )
    since = serializers.DateField(required=False, help_text="First day of the labels.")
    until = serializers.DateField(required=False, help_text="Last day of the labels.")
    tag = serializers.CharField(
        required=False, help_text="Only items with this tag, or key=value of their meta data."
    )
    intervals = serializers.ChoiceField(
        choices=[OTHERS],
        required=False,
        help_text="Intervals for other annotators like these; by default they are for these.",
    )


class AgreementSerializer(serializers.Serializer[Any]):
    """The report; every figure has a value, an interval, n and a method, or null and a reason."""

    project = serializers.CharField()
    task = serializers.CharField()
    slice = serializers.DictField(child=serializers.CharField())
    intervals = serializers.ChoiceField(
        choices=["these", OTHERS],
        help_text="The annotators that intervals are for: these, or others like them.",
    )
    unit = serializers.CharField(help_text="The units drawn for intervals: items, authors, ….")
    categories = serializers.ListField(child=serializers.CharField(), allow_null=True)
    offline = serializers.DictField(
        child=serializers.ListField(child=serializers.CharField()),
        help_text="Kinds that are the built-in text matcher alone, which is no LLM.",
    )
    items = serializers.IntegerField()
    sources = serializers.DictField(child=serializers.DictField())
    people = serializers.DictField(
        child=FigureSerializer(),
        help_text="Crowd and experts together: the recommended coefficient and observed agreement.",
    )
    within = serializers.DictField(child=serializers.DictField(child=FigureSerializer()))
    per_label = serializers.DictField(child=serializers.ListField(child=serializers.DictField()))
    between = serializers.ListField(child=serializers.DictField())
    against_gold = serializers.DictField(child=serializers.DictField())
    against_author = serializers.DictField(child=serializers.DictField())
    gold_in_view = FigureSerializer(
        help_text="The share of gold that was made with a suggestion in view, where that is known."
    )
    gold_view_unknown = serializers.IntegerField(
        help_text="Items whose gold was decided here by labels of which this is not known."
    )
    labels_in_view = FigureSerializer(
        help_text="The share of people's labels that were given with a suggestion in view, where "
        "that is known."
    )
    alt_test = serializers.DictField(child=serializers.DictField())
    alt_test_by_author = serializers.DictField(child=serializers.DictField())
    comparisons = serializers.DictField(
        child=serializers.DictField(),
        help_text="By reference: Cochran's Q, and a sign-flip test of each pair of kinds, which is "
        "McNemar's exact test without ties; whole clusters are permuted.",
    )
    truths = serializers.DictField(
        child=serializers.DictField(child=serializers.IntegerField()),
        help_text="By reference: how many items have each label there.",
    )
    position_bias = serializers.DictField(child=serializers.DictField())
    calibration = serializers.DictField(child=serializers.DictField())
    intra = serializers.DictField(
        child=serializers.DictField(),
        help_text="By kind: how often its annotators say the same of an item again.",
    )
    most_divided = serializers.ListField(child=serializers.DictField())
    left_out = serializers.DictField(child=serializers.IntegerField())
    reasons = serializers.DictField(child=serializers.CharField())
    withheld = serializers.IntegerField(
        required=False,
        help_text="Items that the reviewer who asks has still to label: machines' labels of them "
        "are left out.",
    )
    cost = serializers.DictField(child=serializers.DictField(child=FigureSerializer()))


class TablesQuerySerializer(SliceSerializer):
    """Which tables, and of which part of the ledger."""

    format = serializers.ChoiceField(choices=["json", *FILES], default="json")
    table = serializers.ChoiceField(
        choices=list(TABLES), required=False, help_text="Only this one; all by default."
    )
    reference = serializers.ChoiceField(
        choices=list(REFERENCES),
        required=False,
        help_text="What accuracy is measured by; the author by default, where an author answered.",
    )


class TableSerializer(serializers.Serializer[Any]):
    """A table: one figure per row, with ``reason`` if its ``value`` is null."""

    caption = serializers.CharField()
    rows = serializers.ListField(child=serializers.DictField())


class TablesSerializer(serializers.Serializer[Any]):
    """Tables of a paper, by name."""

    project = serializers.CharField()
    slice = serializers.DictField(child=serializers.CharField())
    reference = serializers.CharField()
    tables = serializers.DictField(child=TableSerializer())


class CountsSerializer(serializers.Serializer[Any]):
    """Items by predicted and gold."""

    predicted_yes_gold_yes = serializers.IntegerField()
    predicted_yes_gold_no = serializers.IntegerField()
    predicted_no_gold_yes = serializers.IntegerField()
    predicted_no_gold_no = serializers.IntegerField()


class LabelFiguresSerializer(serializers.Serializer[Any]):
    """One label's counts and metrics."""

    label = serializers.CharField()  # type: ignore[assignment]  # a serializer has an attribute of that name
    counts = CountsSerializer()
    precision = FigureSerializer()
    recall = FigureSerializer()
    f1 = FigureSerializer()


class LabelScoreSerializer(LabelFiguresSerializer):
    """With the accuracy."""

    accuracy = FigureSerializer()


class EvaluationSerializer(serializers.Serializer[Any]):
    """Predicted against gold."""

    project = serializers.CharField()
    task = serializers.CharField()
    run = serializers.IntegerField(allow_null=True)
    replicate = serializers.IntegerField(allow_null=True)
    annotator = serializers.CharField(allow_null=True)
    kind = serializers.CharField(allow_null=True)
    offline = serializers.BooleanField(allow_null=True)
    note = serializers.CharField(allow_blank=True)
    gold = serializers.IntegerField()
    gold_by_basis = serializers.DictField(child=serializers.IntegerField())
    items = serializers.IntegerField()
    unanswered = serializers.IntegerField()
    rejected = serializers.IntegerField(
        help_text="Labels that somebody rejected without giving one, on items without gold: they "
        "are in no figure."
    )
    n = serializers.IntegerField()
    overall = serializers.DictField(child=FigureSerializer())
    labels = LabelScoreSerializer(many=True)
    matrix = serializers.DictField(
        child=serializers.DictField(child=serializers.IntegerField()), allow_null=True
    )


class EvaluationQuerySerializer(serializers.Serializer[Any]):
    """The source to evaluate."""

    run = serializers.IntegerField(
        required=False, help_text="Run id; the newest run with labels by default."
    )
    annotator = serializers.IntegerField(
        required=False, help_text="Annotator id, instead of a run."
    )
    replicate = serializers.IntegerField(required=False, default=1, min_value=1)


class GoldSerializer(serializers.ModelSerializer[Gold]):
    """A decided value."""

    item = serializers.IntegerField(source="item_id")
    external_id = serializers.CharField(source="item.external_id")
    decided_by = serializers.CharField(source="decided_by.name", default=None, allow_null=True)
    value = serializers.JSONField()

    class Meta:
        model = Gold
        fields = [
            "uid", "item", "external_id", "value", "basis", "decided_by", "evidence", "created_at",
        ]  # fmt: skip


class AgreementViewSet(ProjectViewSet):
    """Agreement within and between kinds of annotators, against gold and against authors."""

    serializer_class = AgreementSerializer

    @extend_schema(parameters=[SliceSerializer])
    def retrieve(self, request: SignedInApiRequest, **_: str) -> Response:
        """Show how far annotators agree.

        Every figure has its interval; one that cannot be computed is null with the reason.
        """
        asked = self._slice(self.read_query(SliceSerializer))
        return Response(agreement_report(self.project, asked, user=request.user))

    @extend_schema(
        parameters=[TablesQuerySerializer],
        responses={
            (200, "application/json"): TablesSerializer,
            **{(200, media): OpenApiTypes.STR for _, media, _ in FILES.values()},
        },
    )
    @action(detail=False, content_negotiation_class=OneRenderer)
    def tables(self, request: SignedInApiRequest, **_: str) -> HttpResponse:
        """Download tables for a paper.

        Accuracy by kind of annotator and by agreeing labels, agreement, cost and time: the numbers
        of the report, as JSON or CSV with one figure per row, or as LaTeX.
        """
        given = self.read_query(TablesQuerySerializer)
        form, name, by = (given.pop(key, "") for key in ("format", "table", "reference"))
        asked = self._slice(given)
        report = agreement_report(self.project, asked, user=request.user)
        by = by or page_reference(report)
        who = annotator_title(self.project, asked.annotator)
        tables = paper_tables(report, [name] if name else list(TABLES), by, who)
        if form == "json":
            whole = {"project": self.project.slug, "slice": asked.given, "reference": by}
            return Response({**whole, "tables": tables})
        ending, media, write = FILES[form]
        content = write(tables).encode(errors="replace")
        response = HttpResponse(content, content_type=f"{media}; charset=utf-8")
        names = (self.project.slug, name or "tables")
        response["Content-Disposition"] = attachment(names, asked.given, ending)
        return response

    def _slice(self, given: dict[str, Any]) -> Slice:
        if "annotator" in given:
            given["annotator"] = find_annotator_id(self.project, given["annotator"])
        return Slice(**given)


class EvaluationViewSet(ProjectViewSet):
    """Predicted against gold."""

    serializer_class = EvaluationSerializer

    @extend_schema(parameters=[EvaluationQuerySerializer])
    def retrieve(self, request: Request, **_: str) -> Response:
        """Evaluate against gold.

        Counts, precision, recall, F1, accuracy per label and overall, with intervals.
        """
        asked = self.read_query(EvaluationQuerySerializer)
        report = evaluation_report(
            self.project,
            run_id=asked.get("run"),
            annotator_id=asked.get("annotator"),
            replicate=asked["replicate"],
        )
        return Response(report.to_json())


class GoldViewSet(ProjectViewSet):
    """The current gold values."""

    serializer_class = GoldSerializer

    @extend_schema(operation_id="projects_gold_list")
    def list(self, request: SignedInApiRequest, **_: str) -> Response:
        """List gold.

        The current gold values, in the order of the items.
        """
        return self.list_page(gold_rows(self.project, request.user))
