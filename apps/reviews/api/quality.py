"""REST: how people work, and what a manager may do about it."""

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.accounts.http import SignedInApiRequest
from apps.accounts.models import User
from apps.accounts.roles import Right, Role
from apps.projects.api.mixins import ProjectScopedMixin
from apps.projects.models import Project
from apps.projects.selectors import get_project, role_in
from apps.reviews.api.quality_serializers import (
    AnchoringSerializer,
    PeopleSerializer,
    ReasonSerializer,
    RequeueRequestSerializer,
    RequeueSerializer,
    WorkerDetailSerializer,
    WorkStandingSerializer,
)
from apps.reviews.models import Requeue
from apps.reviews.selectors.anchoring import anchoring_report
from apps.reviews.selectors.quality import find_worker, people_report, person_report
from apps.reviews.selectors.quality.person import HUNDRED, WEEK
from apps.reviews.selectors.requeueing import requeue_of
from apps.reviews.services.requeueing import requeue_labels
from apps.reviews.services.standing import pause, resume
from labelhub.core.errors import NotFound


class QualityView(ProjectScopedMixin, APIView):
    """Everybody who labels here."""

    read_right = Right.MANAGE

    @extend_schema(operation_id="quality", responses=PeopleSerializer)
    def get(self, _request: SignedInApiRequest, **_: str) -> Response:
        """Accuracy on known answers, speed, agreement and how they change, person by person."""
        return Response(PeopleSerializer(people_report(self.project)).data)


class AnchoringView(ProjectScopedMixin, APIView):
    """What seeing the suggestion does."""

    read_right = Right.MANAGE

    @extend_schema(operation_id="anchoring", responses=AnchoringSerializer)
    def get(self, _request: SignedInApiRequest, **_: str) -> Response:
        """Answers with the suggestion shown and withheld, and the difference with its interval."""
        return Response(AnchoringSerializer(anchoring_report(self.project)).data)


class QualityPersonView(APIView):
    """One person; everybody may see what they may know of themselves."""

    @extend_schema(
        operation_id="quality_person",
        parameters=[OpenApiParameter("by", enum=[HUNDRED, WEEK], description="Stretches of work.")],
        responses=WorkerDetailSerializer,
    )
    def get(self, request: SignedInApiRequest, slug: str, user_id: int) -> Response:
        """One person closely."""
        right = Right.REVIEW if user_id == request.user.pk else Right.MANAGE
        project = get_project(request.user, slug, right)
        report = person_report(
            project,
            find_worker(project, user_id),
            by=WEEK if request.query_params.get("by") == WEEK else HUNDRED,
            own=role_in(request.user, project) != Role.MANAGER,
        )
        return Response(WorkerDetailSerializer(report).data)


class PauseView(ProjectScopedMixin, APIView):
    """Pausing somebody."""

    @extend_schema(
        operation_id="quality_pause", request=ReasonSerializer, responses=WorkStandingSerializer
    )
    def post(self, request: SignedInApiRequest, user_id: int, **_: str) -> Response:
        """Keep them from being given items; the reason is told to them."""
        user, reason = _whom_and_why(self.project, user_id, request)
        standing = pause(project=self.project, user=user, by=request.user, reason=reason)
        return Response(WorkStandingSerializer(standing).data)


class ResumeView(ProjectScopedMixin, APIView):
    """Letting somebody go on."""

    @extend_schema(
        operation_id="quality_resume", request=ReasonSerializer, responses=WorkStandingSerializer
    )
    def post(self, request: SignedInApiRequest, user_id: int, **_: str) -> Response:
        """Let them work again, or without qualifying."""
        user, reason = _whom_and_why(self.project, user_id, request)
        standing = resume(project=self.project, user=user, by=request.user, reason=reason)
        return Response(WorkStandingSerializer(standing).data)


class RequeueView(ProjectScopedMixin, APIView):
    """Putting somebody's labels back into the queue."""

    read_right = Right.MANAGE

    @extend_schema(operation_id="quality_requeue_state", responses=RequeueSerializer)
    def get(self, _request: SignedInApiRequest, user_id: int, **_: str) -> Response:
        """How far the latest is."""
        job = requeue_of(self.project, find_worker(self.project, user_id))
        if job is None:
            raise NotFound("No labels of theirs were ever put back.")
        return Response(RequeueSerializer(job).data)

    @extend_schema(
        operation_id="quality_requeue",
        request=RequeueRequestSerializer,
        responses={200: RequeueSerializer, 202: RequeueSerializer},
    )
    def post(self, request: SignedInApiRequest, user_id: int, **_: str) -> Response:
        """Take their labels back; of many a worker does it (202), ask again how far it is."""
        user = find_worker(self.project, user_id)
        wanted = RequeueRequestSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        job = requeue_labels(
            project=self.project, user=user, by=request.user, **wanted.validated_data
        )
        going_on = job.status in Requeue.UNFINISHED
        code = status.HTTP_202_ACCEPTED if going_on else status.HTTP_200_OK
        return Response(RequeueSerializer(job).data, status=code)


def _whom_and_why(project: Project, user_id: int, request: SignedInApiRequest) -> tuple[User, str]:
    user = find_worker(project, user_id)
    wanted = ReasonSerializer(data=request.data)
    wanted.is_valid(raise_exception=True)
    return user, str(wanted.validated_data["reason"])
