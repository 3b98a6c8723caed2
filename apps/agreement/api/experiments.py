"""REST: experiments and their comparison."""

from decimal import Decimal
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.response import Response

from apps.accounts.http import SignedInApiRequest
from apps.agreement.api.agreement import FigureSerializer, LabelFiguresSerializer
from apps.agreement.experiments.page import main_finding
from apps.agreement.experiments.report import report_of
from apps.common.api.viewsets import ApiViewSet
from apps.debates import services, tasks
from apps.debates.api.runs import plan_from
from apps.debates.models import Experiment
from apps.debates.selectors import experiments as selectors
from apps.projects.api.viewsets import ProjectViewSet
from labelhub.core.debate import PROTOCOLS


class ArmRequestSerializer(serializers.Serializer[Any]):
    """A set-up to try. ``model`` plays every role that ``models`` does not name."""

    protocol = serializers.ChoiceField(choices=list(PROTOCOLS))
    model = serializers.CharField(required=False)
    annotators = serializers.ListField(child=serializers.CharField(), required=False, max_length=9)
    models = serializers.DictField(child=serializers.CharField(), required=False)
    settings = serializers.DictField(required=False)
    params = serializers.DictField(child=serializers.DictField(), required=False)


class ExperimentRequestSerializer(serializers.Serializer[Any]):
    """An experiment as asked for."""

    title = serializers.CharField(max_length=100, default="Experiment")
    arms = serializers.ListField(child=ArmRequestSerializer(), min_length=1, max_length=20)
    limit = serializers.IntegerField(
        min_value=1,
        required=False,
        allow_null=True,
        help_text="How many verified items; of more, a sample that is always the same.",
    )
    replicates = serializers.IntegerField(min_value=1, max_value=20, default=1)
    budget = serializers.DecimalField(
        max_digits=12,
        decimal_places=6,
        min_value=Decimal(0),
        required=False,
        allow_null=True,
        help_text="USD for each arm; needs known prices.",
    )
    equal_budget_votes = serializers.BooleanField(
        default=True, help_text="Set a vote of as many calls beside every debate."
    )


class ExperimentSerializer(serializers.ModelSerializer[Experiment]):
    """An experiment in a list; ``going`` while any of its runs is."""

    project = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    runs = serializers.SerializerMethodField()
    going = serializers.SerializerMethodField()

    class Meta:
        model = Experiment
        fields = ["id", "title", "project", "created_at", "runs", "going"]

    def get_runs(self, experiment: Experiment) -> list[int]:
        """Ids of the runs, one for each arm."""
        return sorted(run.pk for run in experiment.runs.all())

    def get_going(self, experiment: Experiment) -> bool:
        """Whether some run is not over."""
        return any(run.going for run in experiment.runs.all())


class ChangesSerializer(serializers.Serializer[Any]):
    """Debates by whether the opinion before and the one after are right."""

    step = serializers.CharField()
    whole = serializers.BooleanField(help_text="From the first opinion to the last.")
    right_right = serializers.IntegerField()
    right_wrong = serializers.IntegerField()
    wrong_right = serializers.IntegerField()
    wrong_wrong = serializers.IntegerField()
    mended = FigureSerializer()
    spoilt = FigureSerializer()


class ArmSerializer(serializers.Serializer[Any]):
    """One arm; cost, calls and seconds of an item are those of one pass."""

    run = serializers.IntegerField()
    letter = serializers.CharField()
    title = serializers.CharField()
    protocol = serializers.CharField()
    models = serializers.CharField()
    offline = serializers.BooleanField()
    votes_for = serializers.ListField(
        child=serializers.CharField(),
        help_text="Letters of the debates with the same budget.",
    )
    passes = serializers.IntegerField()
    failed = serializers.IntegerField()
    on_front = serializers.BooleanField()
    accuracy = FigureSerializer()
    macro_f1 = FigureSerializer()
    unparsed = FigureSerializer()
    cost_usd = FigureSerializer()
    seconds = FigureSerializer()
    calls = FigureSerializer()
    ambiguous = FigureSerializer()
    normal = FigureSerializer()
    ambiguity = serializers.CharField(allow_blank=True)
    debates = serializers.DictField(child=serializers.IntegerField())
    labels = LabelFiguresSerializer(many=True)
    changes = ChangesSerializer(many=True)
    judges = serializers.DictField(allow_null=True)


class PairSerializer(serializers.Serializer[Any]):
    """Two arms by their runs: ``b`` items only ``one`` gets right, ``c`` only ``other``."""

    one = serializers.IntegerField()
    other = serializers.IntegerField()
    items = serializers.IntegerField()
    b = serializers.IntegerField()
    c = serializers.IntegerField()
    p = serializers.FloatField()
    mid_p = serializers.FloatField()
    p_holm = serializers.FloatField()
    winner = serializers.IntegerField(allow_null=True)
    difference = FigureSerializer()
    method = serializers.CharField()


class ComparisonSerializer(ExperimentSerializer):
    """An experiment with all results of its arms."""

    finding = serializers.CharField()
    task = serializers.CharField()
    items = serializers.IntegerField()
    ambiguous_items = serializers.IntegerField(allow_null=True)
    arms = ArmSerializer(many=True)
    pairs = PairSerializer(many=True)

    class Meta(ExperimentSerializer.Meta):
        results = ["finding", "task", "items", "ambiguous_items", "arms", "pairs"]
        fields = [*ExperimentSerializer.Meta.fields, *results]


@extend_schema(tags=["experiments"])
class ProjectExperimentViewSet(ProjectViewSet):
    """The experiments of a project."""

    serializer_class = ExperimentSerializer

    @extend_schema(operation_id="experiment_list")
    def list(self, request: SignedInApiRequest, **_: str) -> Response:
        """List experiments.

        Newest first.
        """
        experiments = selectors.experiments_of(self.project).select_related("project")
        return self.list_page(experiments.prefetch_related("runs"))

    @extend_schema(operation_id="experiment_start", request=ExperimentRequestSerializer)
    def create(self, request: SignedInApiRequest, **_: str) -> Response:
        """Start an experiment.

        A trial run for each arm, and for each vote of equal budget, on verified items.
        """
        fields = self.read_body(ExperimentRequestSerializer)
        shared = {name: fields.get(name) for name in ("limit", "replicates", "budget")}
        made = services.start_experiment(
            project=self.project,
            actor=request.user,
            title=fields["title"],
            arms=[
                plan_from(
                    {**shared, **arm, "only_unlabelled": False, "reuse_answers": False},
                    self.project,
                )
                for arm in fields["arms"]
            ],
            equal_budget_votes=fields["equal_budget_votes"],
        )
        for run in made.runs.all():
            tasks.launch_run(run.pk)
        return Response(self.get_serializer(made).data, status=status.HTTP_201_CREATED)


@extend_schema(tags=["experiments"])
class ExperimentViewSet(ApiViewSet):
    """One experiment, by its id alone."""

    lookup_url_kwarg = "experiment_id"
    serializer_class = ComparisonSerializer

    def retrieve(self, request: SignedInApiRequest, experiment_id: int) -> Response:
        """Show an experiment.

        With the current comparison of its arms.
        """
        experiment = selectors.visible_experiment(request.user, experiment_id)
        arms = selectors.arms_of(experiment)
        body: dict[str, Any] = dict(ExperimentSerializer(experiment).data)
        if arms:
            report = report_of(experiment, arms)
            body |= {"finding": main_finding(report), **report.to_json()}
        return Response(body)
