"""The queue over REST: take the next item, give its label; the plan by which it is handed out."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import django_filters
from django.db.models import QuerySet
from django.utils import timezone
from drf_spectacular.utils import (
    OpenApiExample,
    OpenApiResponse,
    PolymorphicProxySerializer,
    extend_schema,
)
from rest_framework import serializers, status
from rest_framework.response import Response

from apps.accounts.http import SignedInApiRequest
from apps.accounts.roles import Right
from apps.common.api.feeds import SINCE, FeedPagination
from apps.common.api.filters import BooleanFilter
from apps.labels.models import Kind, Label
from apps.projects.api.viewsets import ProjectViewSet
from apps.projects.models import Project
from apps.reviews.models import ReviewSettings
from apps.reviews.queue.item_context import item_state
from apps.reviews.queue.leases import (
    LEASE_SECONDS,
    claim_next_item,
    note_shown,
    release_leases,
    renew_leases,
)
from apps.reviews.queue.plan import (
    PLAN_FIELDS,
    SCREEN_FIELDS,
    change_review_plan,
    save_screen,
)
from apps.reviews.queue.selectors import (
    all_labels,
    check_download,
    labels_of,
    review_settings,
)
from apps.reviews.queue.serializers import (
    AnswerSerializer,
    LabelSerializer,
    LeaseSerializer,
    NextSerializer,
    SkippedSerializer,
    to_answer,
)
from apps.reviews.queue.submission import postpone_item, skip_item, submit_label
from labelhub.core.errors import NotFound


class LabelFilter(django_filters.FilterSet):
    """``?kind=&annotator=&item=&current=&action=&rejected=``."""

    kind = django_filters.ChoiceFilter(field_name="annotator__kind", choices=Kind.choices)
    annotator = django_filters.CharFilter(field_name="annotator__name")
    item = django_filters.NumberFilter(field_name="item_id", min_value=0, max_value=2**63 - 1)
    action = django_filters.ChoiceFilter(choices=Label.Action.choices)
    current = BooleanFilter(method="narrow_to_current", label="What is said now")
    rejected = BooleanFilter()

    class Meta:
        model = Label
        fields = ["kind", "annotator", "item", "action", "current", "rejected"]

    def narrow_to_current(
        self,
        queryset: QuerySet[Label],
        _name: str,
        current: bool,  # noqa: FBT001 - the signature of a filter method
    ) -> QuerySet[Label]:
        """What stands, or what was superseded or withdrawn, or only rejects a suggestion."""
        stands: dict[str, Any] = {
            "superseded_by__isnull": True,
            "withdrawn": False,
            "rejected": False,
        }
        return queryset.filter(**stands) if current else queryset.exclude(**stands)


# On the queue's path: a serializer takes longer to work out its fields than to use them.
HANDED_OUT = NextSerializer()
SENT_IN = AnswerSerializer()
JUST_WRITTEN = LabelSerializer(context={"fresh": True})


class NextViewSet(ProjectViewSet):
    """Take the next item of the queue."""

    write_right = Right.REVIEW

    @extend_schema(
        operation_id="queue_next",
        request=None,
        responses={
            200: NextSerializer,
            204: OpenApiResponse(description="Nothing is left for you just now."),
        },
    )
    def create(self, request: SignedInApiRequest, **_: str) -> Response:
        """Take the next item.

        The item you hold already, or a new one, for you alone until the lease lapses.
        """
        slot = claim_next_item(project=self.project, user=request.user)
        if slot is None:
            return Response(status=status.HTTP_204_NO_CONTENT)
        state = item_state(self.project, slot.item_id, request.user.pk)
        proposed = state.suggestion if state.suggestion and not state.suggestion.abstained else None
        note_shown(slot, proposed)
        lease = {"token": slot.lease_token, "expires_at": slot.lease_until}
        found = {"item": state.item, "suggestion": proposed, "lease": lease}
        return Response(HANDED_OUT.to_representation(found))


class LeaseViewSet(ProjectViewSet):
    """A lease of yours."""

    write_right = Right.REVIEW
    serializer_class = LeaseSerializer

    @extend_schema(operation_id="lease_renew", request=None, responses={200: LeaseSerializer})
    def create(self, request: SignedInApiRequest, token: UUID, **_: str) -> Response:
        """Renew a lease.

        Also when it has lapsed and nobody took the item meanwhile.
        """
        if not renew_leases(project=self.project, user=request.user, tokens=[token]):
            raise NotFound("You hold no item under this lease; what you submit is stored anyway.")
        expires = timezone.now() + timedelta(seconds=LEASE_SECONDS)
        return Response(self.get_serializer({"token": token, "expires_at": expires}).data)

    @extend_schema(operation_id="lease_release")
    def destroy(self, request: SignedInApiRequest, token: UUID, **_: str) -> Response:
        """Give an item back.

        It is free at once.
        """
        release_leases(project=self.project, user=request.user, tokens=[token])
        return Response(status=status.HTTP_204_NO_CONTENT)


class LabelViewSet(ProjectViewSet):
    """The ledger's labels."""

    write_right = Right.REVIEW
    serializer_class = LabelSerializer
    filterset_class = LabelFilter
    pagination_class = FeedPagination

    @extend_schema(operation_id="projects_labels_list")
    def list(self, request: SignedInApiRequest, **_: str) -> Response:
        """List labels.

        The oldest first; also those that were superseded or withdrawn. To read on from where you
        were, send ``since``: ``0`` at first, then what the last answer has there. Everybody may who
        may have an export.
        """
        if SINCE in request.query_params:
            check_download(request.user, self.project)
            return self.list_page(all_labels(self.project))
        return self.list_page(labels_of(self.project, request.user))

    @extend_schema(
        request=AnswerSerializer,
        examples=[
            OpenApiExample(
                "A label",
                value={
                    "item": 1,
                    "value": ["Food"],
                    "lease": "8c2fa2ae-5a4c-4a8c-9d2e-0d1f6f0a3b11",
                },
                request_only=True,
            )
        ],
        responses={
            201: PolymorphicProxySerializer(
                component_name="Answered",
                serializers=[LabelSerializer, SkippedSerializer],
                resource_type_field_name=None,
            ),
            200: OpenApiResponse(
                LabelSerializer, description="This answer had been stored before."
            ),
        },
    )
    def create(self, request: SignedInApiRequest, **_: str) -> Response:
        """Label an item, or skip it.

        A lapsed lease does not matter: the answer is stored.
        """
        sent = SENT_IN.run_validation(request.data)
        item_id, lease = sent["item"], sent["lease"]
        who = {
            "project": self.project,
            "user": request.user,
            "item_id": item_id,
            "lease_token": lease,
        }
        if sent["skip"] or sent["postpone"]:
            leave = skip_item if sent["skip"] else postpone_item
            skipped = leave(**who, reason=sent["comment"])
            body = {"item": item_id, "action": skipped.action, "created_at": skipped.created_at}
            return Response(SkippedSerializer(body).data, status=status.HTTP_201_CREATED)
        done = submit_label(**who, answer=to_answer(sent))
        code = status.HTTP_201_CREATED if done.created else status.HTTP_200_OK
        shown = JUST_WRITTEN if done.created else LabelSerializer()
        return Response(shown.to_representation(done.label), status=code)


class PlanSerializer(serializers.ModelSerializer[Project]):
    """How many people label each item, which items, in which order, how blind."""

    class Meta:
        model = Project
        fields = PLAN_FIELDS


class ScreenSerializer(serializers.ModelSerializer[ReviewSettings]):
    """What reviewers are shown and asked."""

    class Meta:
        model = ReviewSettings
        fields = SCREEN_FIELDS


class PlanViewSet(ProjectViewSet):
    """How many people label each item, and which items come to people."""

    serializer_class = PlanSerializer

    @extend_schema(operation_id="plan_read")
    def retrieve(self, request: SignedInApiRequest, **_: str) -> Response:
        """Show the review plan."""
        return Response(self.get_serializer(self.project).data)

    def partial_update(self, request: SignedInApiRequest, **_: str) -> Response:
        """Change the review plan.

        Every item is brought into line before the answer comes.
        """
        changes = self.read_body(PlanSerializer, partial=True)
        project = change_review_plan(project=self.project, by=request.user, **changes)
        return Response(self.get_serializer(project).data)


class ScreenViewSet(ProjectViewSet):
    """What reviewers are shown and asked."""

    serializer_class = ScreenSerializer

    @extend_schema(operation_id="screen_read")
    def retrieve(self, request: SignedInApiRequest, **_: str) -> Response:
        """Show what reviewers are shown and asked."""
        return Response(self.get_serializer(review_settings(self.project)).data)

    def partial_update(self, request: SignedInApiRequest, **_: str) -> Response:
        """Change what reviewers are shown and asked.

        It holds from the next item on.
        """
        settings = review_settings(self.project)
        given = self.get_serializer(settings, data=request.data, partial=True)
        given.is_valid(raise_exception=True)
        return Response(self.get_serializer(save_screen(self.project, given.save)).data)
