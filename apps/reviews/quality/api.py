"""REST: how people work, and what a manager may do about it."""

from collections.abc import Callable
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.response import Response

from apps.accounts.http import SignedInApiRequest
from apps.accounts.roles import Right, Role
from apps.projects.api.viewsets import ProjectViewSet
from apps.projects.selectors import role_in
from apps.reviews.models import Requeue, ReviewerStatus
from apps.reviews.quality.anchoring import anchoring_report
from apps.reviews.quality.reports import HUNDRED, WEEK, find_worker, people_report, person_report
from apps.reviews.quality.requeue import requeue_labels, requeue_of
from apps.reviews.queue.reviewer_status import LONGEST_REASON, pause, resume
from labelhub.core.errors import NotFound


class QualityFigureSerializer(serializers.Serializer[Any]):
    """A number with its interval; ``value`` null comes with the ``reason``."""

    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True, required=False)
    high = serializers.FloatField(allow_null=True, required=False)
    n = serializers.IntegerField(required=False)
    method = serializers.CharField(required=False)
    reason = serializers.CharField(required=False)
    doubt = serializers.CharField(required=False)


class WorkChangeSerializer(serializers.Serializer[Any]):
    """From where on something is not as before; ``p`` is corrected for all that was tested."""

    measure = serializers.CharField(help_text="accuracy or seconds")
    since = serializers.CharField()
    before = serializers.FloatField()
    now = serializers.FloatField()
    p = serializers.FloatField()


class WorkerSerializer(serializers.Serializer[Any]):
    """One person's line."""

    user = serializers.IntegerField(source="user.pk")
    username = serializers.CharField(source="user.username")
    kind = serializers.CharField()
    status = serializers.CharField(help_text="active, qualifying or paused")
    reason = serializers.CharField(help_text="Why they are paused.")
    labels = serializers.IntegerField(source="counted.labels")
    skips = serializers.IntegerField(source="counted.skips")
    abstained = serializers.IntegerField(source="counted.abstained")
    rejections = serializers.IntegerField(
        source="counted.only_rejected", help_text="Suggestions rejected without a label."
    )
    late = serializers.IntegerField(source="counted.late")
    undone = serializers.IntegerField(source="counted.undone")
    accuracy = QualityFigureSerializer(
        source="counted.accuracy", help_text="First answers to items of known answer."
    )
    accepted = QualityFigureSerializer(source="counted.accepted")
    seconds = QualityFigureSerializer(source="counted.pace.seconds")
    slow = serializers.IntegerField(source="counted.pace.slow", help_text="Outliers of their own.")
    fast = serializers.IntegerField(source="counted.pace.fast")
    too_fast = QualityFigureSerializer(
        source="counted.fast",
        help_text="Share of answers in less time than it takes to skim the text and to choose, or "
        "far below what is usual in the project.",
    )
    agreement = QualityFigureSerializer(source="agreement.percent")
    kappa = QualityFigureSerializer(source="agreement.kappa")
    changes = WorkChangeSerializer(many=True)
    alerts = serializers.ListField(child=serializers.CharField())


class DoubtfulSerializer(serializers.Serializer[Any]):
    """A known answer that most people contradict."""

    item = serializers.IntegerField(source="item.pk")
    external_id = serializers.CharField(source="item.external_id")
    answers = serializers.IntegerField()
    wrong = serializers.IntegerField()


class PeopleSerializer(serializers.Serializer[Any]):
    """Everybody who labels or labelled here."""

    people = WorkerSerializer(many=True)
    known_items = serializers.IntegerField()
    too_fast_below = serializers.FloatField(
        allow_null=True, help_text="Seconds: far below what is usual in the project."
    )
    too_fast_floor = serializers.FloatField(
        help_text="Seconds: below what anybody takes to skim a text of twenty words and accept. "
        "The floor of each answer follows from its text; the larger of the two bounds counts."
    )
    orphans = serializers.IntegerField(help_text="Labels by people whose accounts are gone.")
    doubtful = DoubtfulSerializer(many=True)


class StretchSerializer(serializers.Serializer[Any]):
    """A part of somebody's work."""

    stretch = serializers.CharField(source="words")
    labels = serializers.IntegerField()
    accuracy = QualityFigureSerializer()
    seconds = QualityFigureSerializer()


class ColleagueSerializer(serializers.Serializer[Any]):
    """With one other person, on items that both labelled."""

    name = serializers.CharField()
    percent = QualityFigureSerializer()
    kappa = QualityFigureSerializer()


class WorkerDetailSerializer(serializers.Serializer[Any]):
    """One person closely; with less of it for themselves."""

    person = WorkerSerializer(source="row")
    by = serializers.CharField()
    stretches = StretchSerializer(many=True)
    changes = WorkChangeSerializer(many=True)
    pairs = ColleagueSerializer(many=True)
    assigned = serializers.IntegerField(help_text="Items that were given to them by name.")


class StretchQuerySerializer(serializers.Serializer[Any]):
    """How to look at somebody's work."""

    by = serializers.ChoiceField(
        choices=[HUNDRED, WEEK], required=False, help_text="Stretches of work."
    )


class ReasonSerializer(serializers.Serializer[Any]):
    """Why; it is kept in the log."""

    reason = serializers.CharField(max_length=LONGEST_REASON)


class RequeueRequestSerializer(ReasonSerializer):
    """Which labels go back, and why."""

    since = serializers.DateTimeField(allow_null=True, default=None)
    only_wrong = serializers.BooleanField(
        default=False, help_text="Only labels that differ from what was decided or others say."
    )


class RequeueSerializer(serializers.ModelSerializer[Requeue]):
    """How far it is."""

    class Meta:
        model = Requeue
        fields = ["id", "status", "message", "total", "done", "since", "only_wrong", "created_at",
                  "finished_at"]  # fmt: skip


class WorkStandingSerializer(serializers.Serializer[Any]):
    """Where somebody stands now."""

    status = serializers.CharField()
    reason = serializers.CharField()


class AnchoringArmSerializer(serializers.Serializer[Any]):
    """Answers of one arm."""

    n = serializers.IntegerField(help_text="Answers, the mere rejections among them.")
    rejected = serializers.IntegerField(
        help_text="Suggestions rejected without a label: not taken over, neither right nor wrong."
    )
    people = serializers.IntegerField()
    taken_over = QualityFigureSerializer(help_text="The label is what was suggested.")
    agreement = QualityFigureSerializer()
    accuracy = QualityFigureSerializer()
    seconds = QualityFigureSerializer()


class AnchoringDifferencesSerializer(serializers.Serializer[Any]):
    """Shown less withheld."""

    taken_over = QualityFigureSerializer()
    agreement = QualityFigureSerializer()
    accuracy = QualityFigureSerializer()
    seconds = QualityFigureSerializer()


class AnchoringPersonSerializer(serializers.Serializer[Any]):
    """How often one person says what is suggested."""

    user = serializers.IntegerField(source="user.pk")
    username = serializers.CharField(source="user.username")
    shown = QualityFigureSerializer()
    withheld = QualityFigureSerializer()
    difference = QualityFigureSerializer()


class AnchoringSerializer(serializers.Serializer[Any]):
    """What seeing the suggestion does."""

    arms = serializers.DictField(child=AnchoringArmSerializer(), help_text="shown and withheld")
    differences = AnchoringDifferencesSerializer()
    people = AnchoringPersonSerializer(many=True)
    sentence = serializers.CharField()
    warning = serializers.CharField(help_text="Why nothing is measured now; empty where it is.")


class QualityViewSet(ProjectViewSet):
    """Everybody who labels here."""

    read_right = Right.MANAGE
    serializer_class = PeopleSerializer

    def retrieve(self, request: SignedInApiRequest, **_: str) -> Response:
        """Show the quality of everybody's work.

        Accuracy on known answers, speed, agreement and how they change, person by person.
        """
        return Response(self.get_serializer(people_report(self.project)).data)


class AnchoringViewSet(ProjectViewSet):
    """What seeing the suggestion does."""

    read_right = Right.MANAGE
    serializer_class = AnchoringSerializer

    def retrieve(self, request: SignedInApiRequest, **_: str) -> Response:
        """Show how suggestions sway people.

        Answers with the suggestion shown and withheld, and the difference with its interval.
        """
        return Response(self.get_serializer(anchoring_report(self.project)).data)


class WorkerViewSet(ProjectViewSet):
    """One person; everybody may see what they may know of themselves."""

    read_right = Right.MANAGE
    lookup_url_kwarg = "user_id"
    serializer_class = WorkerDetailSerializer

    def needed_right(self) -> Right:
        own = self.action == "retrieve" and self.kwargs["user_id"] == self.request.user.pk
        return Right.REVIEW if own else super().needed_right()

    @extend_schema(operation_id="quality_person", parameters=[StretchQuerySerializer])
    def retrieve(self, request: SignedInApiRequest, user_id: int, **_: str) -> Response:
        """Show the quality of a person's work."""
        report = person_report(
            self.project,
            find_worker(self.project, user_id),
            by=self.read_query(StretchQuerySerializer).get("by", HUNDRED),
            own=role_in(request.user, self.project) != Role.MANAGER,
        )
        return Response(self.get_serializer(report).data)

    @extend_schema(
        operation_id="quality_pause", request=ReasonSerializer, responses=WorkStandingSerializer
    )
    @action(detail=True, methods=["post"])
    def pause(self, request: SignedInApiRequest, **_: Any) -> Response:
        """Pause a person.

        Keep them from being given items; the reason is told to them.
        """
        return self._switch(pause, request)

    @extend_schema(
        operation_id="quality_resume", request=ReasonSerializer, responses=WorkStandingSerializer
    )
    @action(detail=True, methods=["post"])
    def resume(self, request: SignedInApiRequest, **_: Any) -> Response:
        """Let a person work again.

        After a pause, or without qualifying.
        """
        return self._switch(resume, request)

    @extend_schema(responses=RequeueSerializer, operation_id="quality_requeue_state")
    @action(detail=True)
    def requeue(self, request: SignedInApiRequest, user_id: int, **_: str) -> Response:
        """Show the latest requeueing of a person's labels."""
        job = requeue_of(self.project, find_worker(self.project, user_id))
        if job is None:
            raise NotFound("No labels of theirs were ever put back.")
        return Response(RequeueSerializer(job).data)

    @extend_schema(
        operation_id="quality_requeue",
        request=RequeueRequestSerializer,
        responses={200: RequeueSerializer, 202: RequeueSerializer},
    )
    @requeue.mapping.post
    def start_requeue(self, request: SignedInApiRequest, user_id: int, **_: str) -> Response:
        """Put a person's labels back into the queue.

        Take their labels back; of many a worker does it (202), ask again how far it is.
        """
        user = find_worker(self.project, user_id)
        sent = self.read_body(RequeueRequestSerializer)
        job = requeue_labels(project=self.project, user=user, by=request.user, **sent)
        going_on = job.status in Requeue.UNFINISHED
        code = status.HTTP_202_ACCEPTED if going_on else status.HTTP_200_OK
        return Response(RequeueSerializer(job).data, status=code)

    def _switch(
        self, switch: Callable[..., ReviewerStatus], request: SignedInApiRequest
    ) -> Response:
        user = find_worker(self.project, self.kwargs["user_id"])
        sent = self.read_body(ReasonSerializer)
        standing = switch(project=self.project, user=user, by=request.user, **sent)
        return Response(WorkStandingSerializer(standing).data)
