"""REST: how far LLM, crowd, expert and author agree."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.agreement.api.serializers import FigureSerializer
from apps.agreement.naming import annotator_meant
from apps.agreement.reporting import agreement_report
from apps.agreement.sheets.slicing import Slice
from apps.projects.api.viewsets import ProjectScopedMixin


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


class AgreementSerializer(serializers.Serializer[Any]):
    """The report; every figure has a value, an interval, n and a method, or null and a reason."""

    project = serializers.CharField()
    task = serializers.CharField()
    slice = serializers.DictField(child=serializers.CharField())
    unit = serializers.CharField(help_text="What is drawn for intervals: items, authors, ….")
    categories = serializers.ListField(child=serializers.CharField(), allow_null=True)
    offline = serializers.DictField(
        child=serializers.ListField(child=serializers.CharField()),
        help_text="Kinds that are the built-in text matcher alone: not an LLM.",
    )
    items = serializers.IntegerField()
    sources = serializers.DictField(child=serializers.DictField())
    within = serializers.DictField(child=serializers.DictField(child=FigureSerializer()))
    per_label = serializers.DictField(child=serializers.ListField(child=serializers.DictField()))
    between = serializers.ListField(child=serializers.DictField())
    against_gold = serializers.DictField(child=serializers.DictField())
    against_author = serializers.DictField(child=serializers.DictField())
    gold_in_view = FigureSerializer(
        help_text="The share of gold that was made with a suggestion in view, where that is known."
    )
    gold_view_unknown = serializers.IntegerField(
        help_text="Items whose gold was made here by labels of which that is not known."
    )
    alt_test = serializers.DictField(child=serializers.DictField())
    alt_test_by_author = serializers.DictField(child=serializers.DictField())
    comparisons = serializers.DictField(
        child=serializers.DictField(),
        help_text="By truth: Cochran's Q and exact McNemar, or permutations of whole clusters.",
    )
    truths = serializers.DictField(
        child=serializers.DictField(child=serializers.IntegerField()),
        help_text="By truth: how many items truly have each label.",
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
    cost = serializers.DictField(child=serializers.DictField(child=FigureSerializer()))


class AgreementView(ProjectScopedMixin):
    """Agreement within and between kinds of annotators, against gold and against authors."""

    @extend_schema(
        parameters=[SliceSerializer], responses=AgreementSerializer, operation_id="agreement"
    )
    def get(self, request: Request, slug: str) -> Response:
        """Every figure with its interval; what cannot be computed is null with the reason."""
        query = SliceSerializer(data=request.query_params)
        query.is_valid(raise_exception=True)
        given = dict(query.validated_data)
        if "annotator" in given:
            given["annotator"] = annotator_meant(self.project, given["annotator"])
        return Response(agreement_report(self.project, Slice(**given), user=request.user))
