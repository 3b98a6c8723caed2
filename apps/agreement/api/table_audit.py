"""REST: the audit of published tables, and the tests of significance it rests on."""

from collections.abc import Callable, Mapping
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.agreement.api.table_audit_serializers import (
    AuditRequestSerializer,
    AuditSerializer,
    TestsRequestSerializer,
    TestsSerializer,
)
from apps.agreement.table_audit.reading import Asked
from apps.agreement.table_audit.reports import reports_of, to_json
from apps.agreement.table_audit.significance import discordant, mcnemar_tests, several, t_tests


class TableAuditView(APIView):
    """``audit/table/``."""

    @extend_schema(
        operation_id="audit_table",
        tags=["audit"],
        request=AuditRequestSerializer,
        responses=AuditSerializer,
    )
    def post(self, request: Request) -> Response:
        """What in a published table does not follow from the rest of it. Nothing is kept.

        A text that is a JSON object with many tables gives `tables`, one audit for each.
        """
        sent = AuditRequestSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        return Response(to_json(reports_of(Asked(**sent.validated_data))))


class SignificanceView(APIView):
    """``audit/tests/``."""

    @extend_schema(
        operation_id="audit_tests",
        tags=["audit"],
        request=TestsRequestSerializer,
        responses=TestsSerializer,
    )
    def post(self, request: Request) -> Response:
        """Tests of significance on numbers at hand; each part that is sent is answered by name."""
        sent = TestsRequestSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        parts = sent.validated_data
        return Response({name: ANSWERS[name](given) for name, given in parts.items()})


ANSWERS: Mapping[str, Callable[[Any], dict[str, Any]]] = {
    "paired": t_tests,
    "mcnemar": mcnemar_tests,
    "p_values": several,
    "discordant": discordant,
}
