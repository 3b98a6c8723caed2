"""REST: auto-accept with an error bound."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.response import Response

from apps.accounts.http import SignedInApiRequest
from apps.accounts.models import User
from apps.agreement.automation import promise
from apps.agreement.automation.guarantee import (
    State,
    live_guarantee,
    settle_if_small,
    switch_off,
    switch_on,
)
from apps.agreement.automation.page import (
    AutomationState,
    TriedBound,
    automation_state,
    ending_words,
    failure_of,
)
from apps.agreement.automation.sample import Drawn, draw_sample
from apps.agreement.models import Guarantee
from apps.projects.api.viewsets import ProjectViewSet
from apps.projects.models import Project
from labelhub.core.errors import Conflict, InvalidInput

ASKED = [
    OpenApiParameter("target", OpenApiTypes.DOUBLE, description="Share of wrong ones, to 0.5."),
    OpenApiParameter("confidence", OpenApiTypes.DOUBLE, description="0.5 to 0.999."),
    OpenApiParameter("coverage", OpenApiTypes.DOUBLE, description="Share hoped to be accepted."),
    OpenApiParameter("labels_per_item", OpenApiTypes.INT, description="Of the sample, 1 or 2."),
]


class PromiseSerializer(serializers.Serializer[Any]):
    """A promise: at most ``target`` of the accepted items are wrong.

    Of a hundred projects that draw such a sample, at most 100 x (1 - ``confidence``) accept with a
    higher error. It holds for items like those sampled, and not for new authors, templates or
    sources.
    """

    target = serializers.FloatField(min_value=0, max_value=promise.MOST_TARGET)
    confidence = serializers.FloatField(default=promise.USUAL_CONFIDENCE)
    coverage = serializers.FloatField(
        default=promise.USUAL_COVERAGE,
        help_text="Share of the items that is hoped to be accepted; the less, the more labels.",
    )
    labels_per_item = serializers.IntegerField(
        default=1,
        help_text="Blind labels of each item of the sample, 1 or 2; where two differ, an expert "
        "decides.",
    )


class AutomationSerializer(serializers.Serializer[Any]):
    """The state of auto-accept; parts that do not apply are null."""

    state = serializers.ChoiceField(choices=State.choices)
    judged = serializers.BooleanField(help_text="Whether the live promise's sample is judged.")
    failure = serializers.CharField(
        allow_blank=True, help_text="Why the judged sample does not prove the promise."
    )
    guarantee = serializers.CharField(help_text="What the promise means and what it holds for.")
    items = serializers.DictField(help_text="Counted when the sample was judged, once it is.")
    plan = serializers.DictField(help_text="The costs of the promise asked for.")
    sample = serializers.DictField(allow_null=True, help_text="Its errors only once complete.")
    promise = serializers.DictField(allow_null=True)
    audit = serializers.DictField(
        allow_null=True,
        help_text="Blind audits since switched on, one label each. `low` and `high` hold at all "
        "times if the rate has not changed; `recent` is the rate of the last 100.",
    )
    ended = serializers.DictField(allow_null=True, help_text="How the last promise ended.")
    shares = serializers.ListField(child=serializers.DictField())


@extend_schema(tags=["agreement"])
class AutomationViewSet(ProjectViewSet):
    """Auto-accept with an error bound."""

    serializer_class = AutomationSerializer

    @extend_schema(operation_id="automation_read", parameters=ASKED)
    def retrieve(self, request: SignedInApiRequest, **_: str) -> Response:
        """Show the state of auto-accept.

        The costs of a promise, the state of the live one, and whether it still holds.
        """
        return Response(
            automation_json(automation_state(self.project, _read_terms(request.query_params)))
        )

    @extend_schema(
        operation_id="automation_switch_on",
        request=PromiseSerializer,
        responses={200: AutomationSerializer, 202: AutomationSerializer},
    )
    def create(self, request: SignedInApiRequest, **_: str) -> Response:
        """Switch auto-accept on.

        Draws the sample of a promise; once people have decided it, switches the promise on. 202:
        the sample is drawn and waits for people; send the same again when they are done.
        """
        found, fresh = _find_or_draw_sample(
            self.project, request.user, promise.Terms(**self.read_body(PromiseSerializer))
        )
        settle_if_small(found)
        now = automation_state(self.project)
        if fresh and now.drawn and now.drawn.pending:
            return Response(automation_json(now), status=status.HTTP_202_ACCEPTED)
        settle_if_small(switch_on(found, actor=request.user))
        return Response(automation_json(automation_state(self.project)))

    @extend_schema(operation_id="automation_switch_off", responses={200: AutomationSerializer})
    def destroy(self, request: SignedInApiRequest, **_: str) -> Response:
        """Switch auto-accept off.

        Or give its sample up: rule and plan are as before it.
        """
        live = live_guarantee(self.project)
        if live is None:
            raise Conflict("There is no promise to switch off in this project.")
        switch_off(live, actor=request.user)
        settle_if_small(live)
        return Response(automation_json(automation_state(self.project)))


def _find_or_draw_sample(
    project: Project, actor: User, terms: promise.Terms
) -> tuple[Guarantee, bool]:
    """The sample of this very promise, and whether it was drawn just now."""
    live = live_guarantee(project)
    if live is None:
        return draw_sample(project, actor=actor, terms=terms), True
    promise.check_terms(terms)
    drawn_for = {name: getattr(live, name) for name in ("target", "confidence", "labels_per_item")}
    if any(getattr(terms, name) != value for name, value in drawn_for.items()):
        raise Conflict(
            f"The sample was drawn for at most {live.target:g} wrong at a confidence of "
            f"{live.confidence:g} with labels_per_item {live.labels_per_item}. "
            "Another promise wants a sample of its own: give this one up first.",
            data=drawn_for,
        )
    return live, False


def _read_terms(given: Mapping[str, str]) -> promise.Terms | None:
    numbers: dict[str, Any] = {}
    for name, usual in promise.Terms()._asdict().items():
        if raw := given.get(name):
            try:
                numbers[name] = type(usual)(raw)
            except ValueError:
                raise InvalidInput.at(name, f"must be a number, not '{raw[:40]}'.") from None
    if not numbers:
        return None
    terms = promise.Terms(**numbers)
    promise.check_terms(terms)
    return terms


def automation_json(found: AutomationState) -> dict[str, Any]:
    """The state as JSON: shares in [0, 1], no names of people."""
    live, plan = found.guarantee, found.plan
    return {
        "state": live.state if live else "off",
        "judged": live is not None and live.verdict is not None,
        "failure": found.failure,
        "guarantee": found.meaning,
        "items": {"debated": found.pool.debated, "within_rule": found.pool.within_rule},
        "plan": {
            **plan.terms._asdict(),
            "labels_needed": plan.needed * plan.terms.labels_per_item,
            "labels_expected": plan.labels,
            "sample_size": plan.size,
            **_fields(plan, "available", "decided", "surest"),
            "errors_tolerated": plan.tolerated,
            "audits_to_notice_double": plan.notice,
            "reviewer_error": plan.reviewer_error,
        },
        "sample": _sample(live, found.drawn, found) if live and found.drawn else None,
        "promise": live
        and {
            **_fields(live, "target", "confidence", "drawn_at", "switched_on_at", "calibrated"),
            **_fields(live, "accepted", "errors"),
            "certainty": promise.certainty_of(live.bound) if live.bound is not None else None,
            "uncertainty_below": live.bound,
            "bound": live.upper,
            "share": live.coverage,
            "audit_share": live.audit,
            "carried_out": live.applied,
            "debated_since": found.debated_since,
        },
        "audit": found.audit and {**asdict(found.audit), "audits_to_notice_double": found.notice},
        "ended": found.last
        and {
            "reason": found.last.ending,
            "message": ending_words(found.last),
            "judged": found.last.verdict is not None,
            "failure": failure_of(found.last),
            **_fields(found.last, "ended_at", "target", "confidence", "audits", "audit_errors"),
            "carried_out": found.last.applied,
        },
        "shares": [
            {"label": share["name"], "naive": share["naive"], "corrected": share["corrected"]}
            for share in found.shares
        ],
    }


def _sample(live: Guarantee, drawn: Drawn, found: AutomationState) -> dict[str, Any]:
    return {
        "drawn": len(live.sample),
        "labels_per_item": live.labels_per_item,
        "labelled": len(drawn.known),
        "pending": len(drawn.pending),
        "decided_before": sum(count for _, count in found.decided_before),
        "dropped": {"led": len(drawn.led), "gone": len(drawn.gone)},
        "stale": found.stale or None,
        "reason": found.failure or None,
        "steps": [_step(row) for row in found.rows],
        "chosen": _step(found.chosen) if found.chosen else None,
    }


def _step(row: TriedBound) -> dict[str, Any]:
    step = _fields(row.step, "accepted", "errors", "bound", "tested", "passed")
    return {"certainty": row.certainty, "share": row.share, **step}


def _fields(found: object, *names: str) -> dict[str, Any]:
    return {name: getattr(found, name) for name in names}
