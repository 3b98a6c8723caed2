"""REST: the routing rule and its effect."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.response import Response

from apps.accounts.http import SignedInApiRequest
from apps.debates import selectors, services
from apps.projects.api.viewsets import ProjectViewSet
from apps.projects.models import Project
from labelhub.core.debate.routing import InvalidRule, read_rule


class RuleSerializer(serializers.Serializer[Any]):
    """The rule for sending debates to people. Missing keys have their default."""

    flags = serializers.ListField(child=serializers.CharField(), required=False)
    bounds = serializers.DictField(
        child=serializers.FloatField(allow_null=True),
        required=False,
        help_text="Signal → bound; null switches it off.",
    )
    audit = serializers.FloatField(
        required=False, help_text="Share of the accepted items, 0 to 0.5."
    )


class RuleChangeSerializer(serializers.Serializer[Any]):
    """A rule to store."""

    rule = RuleSerializer()
    apply = serializers.BooleanField(default=False, help_text="Also route earlier items again.")


class EffectSerializer(serializers.Serializer[Any]):
    """The effect of the rule on each item's latest debate."""

    items = serializers.IntegerField()
    sent = serializers.IntegerField()
    failed = serializers.IntegerField(help_text="Always sent to people.")
    audited = serializers.IntegerField()
    because = serializers.SerializerMethodField(help_text="Reason to items.")
    accepted_error = serializers.DictField(
        help_text="Error rate by the labels of people; see audits."
    )
    sent_error = serializers.DictField()

    def get_because(self, weighed: services.RuleForecast) -> dict[str, int]:
        """The number of items by reason; an item may have several."""
        return dict(weighed.because)


class RoutingSerializer(serializers.Serializer[Any]):
    """The rule, its effect, and the error rate of the items that it accepts."""

    rule = RuleSerializer()
    changed_by = serializers.CharField(allow_null=True)
    changed_at = serializers.DateTimeField(allow_null=True)
    review_scope = serializers.CharField()
    behind = serializers.IntegerField(help_text="Items routed by an earlier rule or review plan.")
    effect = EffectSerializer()
    accepted_error = serializers.DictField(help_text="Only by blind audits.")
    rerouted = serializers.IntegerField(
        allow_null=True, help_text="Items that are routed differently now."
    )


@extend_schema(tags=["runs"])
class RoutingViewSet(ProjectViewSet):
    """When debates go to people."""

    serializer_class = RoutingSerializer

    @extend_schema(operation_id="routing_read")
    def retrieve(self, request: SignedInApiRequest, **_: str) -> Response:
        """Show the routing rule.

        With its effect on the items debated so far.
        """
        return Response(self.get_serializer(_routing_state(self.project)).data)

    @extend_schema(operation_id="routing_change", request=RuleChangeSerializer)
    def update(self, request: SignedInApiRequest, **_: str) -> Response:
        """Set the routing rule.

        With ``apply`` also for the items debated so far.
        """
        body: object = request.data
        if not isinstance(body, dict) or "rule" not in body:
            raise InvalidRule("rule: is missing. Send an object with flags, bounds and audit.")
        rule = read_rule(body["rule"])
        asked = self.read_body(RuleChangeSerializer)
        services.change_routing_rule(project=self.project, actor=request.user, rule=rule)
        moved = services.reroute(self.project) if asked["apply"] else None
        return Response(self.get_serializer(_routing_state(self.project, moved)).data)


def _routing_state(project: Project, rerouted: int | None = None) -> dict[str, Any]:
    rule, stored = selectors.rule_of(project), selectors.stored_rule(project)
    sample = services.read_routing_sample(project)
    return {
        "rule": rule.to_json(),
        "changed_by": stored.changed_by.username if stored and stored.changed_by else None,
        "changed_at": stored.changed_at if stored else None,
        "review_scope": project.review_scope,
        "behind": sample.behind,
        "effect": services.forecast_rule(sample, rule),
        "accepted_error": sample.accepted_error,
        "rerouted": rerouted,
    }
