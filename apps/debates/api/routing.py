"""REST: the routing rule and what it does."""

from typing import Any, cast

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.accounts.models import User
from apps.debates import selectors, services
from apps.projects.api.viewsets import ProjectScopedMixin
from apps.projects.models import Project
from labelhub.core.debate.routing import InvalidRule, read_rule


class RuleSerializer(serializers.Serializer[Any]):
    """When debates go to people. What is left out is as usual."""

    flags = serializers.ListField(child=serializers.CharField(), required=False)
    bounds = serializers.DictField(
        child=serializers.FloatField(allow_null=True),
        required=False,
        help_text="Signal to bound; null switches it off.",
    )
    audit = serializers.FloatField(required=False, help_text="Share of what is accepted, 0 to 0.5.")


class RuleChangeSerializer(serializers.Serializer[Any]):
    """A rule to store."""

    rule = RuleSerializer()
    apply = serializers.BooleanField(
        default=False, help_text="Route the items that were labelled before anew as well."
    )


class EffectSerializer(serializers.Serializer[Any]):
    """What the rule does with each item's latest debate."""

    items = serializers.IntegerField()
    sent = serializers.IntegerField()
    failed = serializers.IntegerField(help_text="Sent whatever the rule says.")
    audited = serializers.IntegerField()
    because = serializers.SerializerMethodField(help_text="Reason to items.")
    accepted_error = serializers.DictField(help_text="Wrong by what people decided; see audits.")
    sent_error = serializers.DictField()

    def get_because(self, weighed: services.Weighed) -> dict[str, int]:
        """How many items each reason sends; one may have several."""
        return {each.code: each.items for each in weighed.because}


class RoutingSerializer(serializers.Serializer[Any]):
    """The rule, what it does, and how wrong what it accepts is."""

    rule = RuleSerializer()
    changed_by = serializers.CharField(allow_null=True)
    changed_at = serializers.DateTimeField(allow_null=True)
    review_scope = serializers.CharField()
    behind = serializers.IntegerField(help_text="Items routed by an earlier rule or plan.")
    effect = EffectSerializer()
    accepted_error = serializers.DictField(help_text="By blind audits alone.")
    rerouted = serializers.IntegerField(allow_null=True, help_text="Items that changed their way.")


class RoutingView(ProjectScopedMixin, APIView):
    """``projects/{slug}/routing/``."""

    @extend_schema(operation_id="routing_read", tags=["runs"], responses=RoutingSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """The rule and what it does with the items debated so far."""
        return Response(RoutingSerializer(_told(self.project)).data)

    @extend_schema(
        operation_id="routing_change",
        tags=["runs"],
        request=RuleChangeSerializer,
        responses=RoutingSerializer,
    )
    def put(self, request: Request, slug: str) -> Response:
        """Store a rule, and follow it for the items debated so far where that is wanted."""
        body: object = request.data
        if not isinstance(body, dict) or "rule" not in body:
            raise InvalidRule("rule: is missing. Send an object with flags, bounds and audit.")
        rule = read_rule(body["rule"])
        asked = RuleChangeSerializer(data=body)
        asked.is_valid(raise_exception=True)
        actor = cast(User, request.user)
        services.change_routing_rule(project=self.project, actor=actor, rule=rule)
        moved = services.reroute(self.project) if asked.validated_data["apply"] else None
        return Response(RoutingSerializer(_told(self.project, moved)).data)


def _told(project: Project, rerouted: int | None = None) -> dict[str, Any]:
    rule, stored = selectors.rule_of(project), selectors.stored_rule(project)
    sample = services.read_sample(project)
    return {
        "rule": rule.to_json(),
        "changed_by": stored.changed_by.username if stored and stored.changed_by else None,
        "changed_at": stored.changed_at if stored else None,
        "review_scope": project.review_scope,
        "behind": sample.behind,
        "effect": services.weigh(sample, rule),
        "accepted_error": sample.accepted_error,
        "rerouted": rerouted,
    }
