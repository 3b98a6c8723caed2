"""Models and the providers of projects as REST shows them. A key is only ever written."""

from typing import Any

from django_filters import CharFilter, FilterSet
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.api import OperatorViewSet
from apps.accounts.http import SignedInApiRequest
from apps.accounts.roles import Right
from apps.common.api.viewsets import ApiViewSet, Router
from apps.llm import selectors, services
from apps.llm.models import ModelSpec, Provider
from apps.llm.presets import preset_named, preset_of, presets
from apps.llm.probe import check_provider
from apps.projects.api.viewsets import ProjectViewSet
from apps.projects.models import Project
from apps.projects.selectors import get_project
from labelhub.core.errors import InvalidInput, NotFound

KINDS = list(presets())


class ModelSpecSerializer(serializers.ModelSerializer[ModelSpec]):
    """One model a run may name. ``offline`` marks the text matcher, which is not an LLM."""

    provider = serializers.CharField(source="provider.name", read_only=True)
    project = serializers.CharField(
        source="provider.project.slug",
        default=None,
        read_only=True,
        allow_null=True,
        help_text="The only project that may use it; null: all may.",
    )
    offline = serializers.BooleanField(read_only=True)
    prices_known = serializers.BooleanField(
        read_only=True, help_text="Whether a run with this model may have a budget."
    )

    class Meta:
        model = ModelSpec
        fields: Any = ["name", "provider", "project", "offline", "prices_known"]
        read_only_fields = fields


class ModelFilter(FilterSet):
    """``?project=``: the models that runs of this project may name."""

    project = CharFilter(method="of_project", help_text="The slug of a project.")

    def of_project(self, rows: Any, _: str, slug: str) -> Any:
        """The shared models and those of the project."""
        project = get_project(self.request.user, slug, Right.VIEW)
        return rows.filter(pk__in=selectors.list_models(project).values("pk"))


class ModelViewSet(ApiViewSet):
    """The models there are."""

    serializer_class = ModelSpecSerializer
    filterset_class = ModelFilter

    @extend_schema(operation_id="models_list")
    def list(self, request: SignedInApiRequest) -> Response:
        """List models.

        The shared models and those of your projects. Addresses and keys stay out.
        """
        return self.list_page(selectors.models_seen_by(request.user))


class OwnModelSerializer(serializers.ModelSerializer[ModelSpec]):
    """A model of a project's provider, with prices in USD per million tokens; null: unknown."""

    class Meta:
        model = ModelSpec
        fields: Any = ["name", "purpose", "price_in", "price_out"]
        extra_kwargs = {
            "purpose": {"required": False},
            "price_in": {"coerce_to_string": False},
            "price_out": {"coerce_to_string": False},
        }


class ProviderSerializer(serializers.ModelSerializer[Provider]):
    """A provider of a project. Its key is never shown."""

    kind = serializers.SerializerMethodField()
    key = serializers.ChoiceField(
        source="key_state", choices=Provider.KeyState.choices, read_only=True
    )
    models = OwnModelSerializer(many=True, read_only=True)

    class Meta:
        model = Provider
        fields: Any = [
            "id", "name", "kind", "base_url", "api_version", "key", "key_changed_at",
            "max_concurrency", "rpm", "tpm", "rpd", "tpd", "connect_timeout", "read_timeout",
            "models", "created_at",
        ]  # fmt: skip
        read_only_fields = fields

    @extend_schema_field(serializers.ChoiceField(choices=KINDS))
    def get_kind(self, provider: Provider) -> str:
        """One of the kinds."""
        return preset_of(provider).name


class ProviderChangeSerializer(serializers.ModelSerializer[Provider]):
    """Changes of a provider. ``models`` adds models, or changes those of the same names."""

    key = serializers.CharField(
        required=False,
        write_only=True,
        max_length=services.LONGEST_KEY,
        help_text="Stored encrypted and never shown again.",
    )
    models = OwnModelSerializer(many=True, required=False)

    class Meta:
        model = Provider
        fields: Any = [
            "name", "base_url", "api_version", "key", "max_concurrency", "rpm", "tpm", "rpd", "tpd",
            "connect_timeout", "read_timeout", "models",
        ]  # fmt: skip


class NewProviderSerializer(ProviderChangeSerializer):
    """A new provider. Its kind fills in what is left out."""

    kind = serializers.ChoiceField(choices=KINDS)

    class Meta(ProviderChangeSerializer.Meta):
        fields: Any = ["kind", *ProviderChangeSerializer.Meta.fields]
        extra_kwargs = {"name": {"required": False}, "base_url": {"required": False}}


class ProviderTestSerializer(serializers.Serializer[Any]):
    """The model to ask."""

    model = serializers.CharField(
        required=False, help_text="One of its models; left out: the first one."
    )


class ProviderCheckSerializer(serializers.Serializer[Any]):
    """The result of a test; null: the test did not come to it."""

    ok = serializers.BooleanField()
    words = serializers.CharField(help_text="What was found, or what was wrong and what to do.")
    reachable = serializers.BooleanField(allow_null=True)
    key_accepted = serializers.BooleanField(allow_null=True)
    answers = serializers.BooleanField(allow_null=True)
    structured = serializers.CharField(
        allow_null=True, help_text="`a JSON schema`, `any JSON object`, or empty."
    )
    logprobs = serializers.BooleanField(allow_null=True)
    models = serializers.ListField(
        child=serializers.CharField(), help_text="The names that the endpoint lists."
    )


class ProvidersViewSet(ApiViewSet):
    """Base of viewsets of providers, whose models only ``owner`` may use; None: all projects."""

    repeatable_actions = ("test",)
    lookup_url_kwarg = "provider_id"
    serializer_class = ProviderSerializer
    owner: Project | None = None

    def provider(self) -> Provider:
        """The provider in the address."""
        return selectors.get_provider(self.kwargs["provider_id"], self.owner)

    def list(self, request: Request, **_: str) -> Response:
        """List providers.

        By name.
        """
        return self.list_page(selectors.list_providers(self.owner))

    @extend_schema(request=NewProviderSerializer)
    def create(self, request: SignedInApiRequest, **_: str) -> Response:
        """Add a provider.

        Below a project only that may use its models. The key is stored encrypted and never shown
        again.
        """
        selectors.check_may_change(request.user)
        fields = self.read_body(NewProviderSerializer)
        preset = preset_named(fields.pop("kind"))
        key, models = fields.pop("key", ""), fields.pop("models", ())
        usual = {"name": preset.title, "base_url": preset.base_url}
        usual |= {"api_version": preset.api_version}
        provider = Provider(
            project=self.owner, preset=preset.name, kind=preset.kind, **usual | fields
        )
        saved = services.save_provider(provider, key=key, models=models)
        return Response(self.get_serializer(saved).data, status=status.HTTP_201_CREATED)

    def retrieve(self, request: Request, **_: Any) -> Response:
        """Show a provider.

        With its models and prices.
        """
        return Response(self.get_serializer(self.provider()).data)

    @extend_schema(request=ProviderChangeSerializer)
    def partial_update(self, request: SignedInApiRequest, **_: Any) -> Response:
        """Change a provider.

        A stored key is only sent to the server for which it was entered: with another `base_url`,
        send the key again. A provider with extra headers moves to another server on its page only.
        """
        selectors.check_may_change(request.user)
        fields = self.read_body(ProviderChangeSerializer, partial=True)
        key, models = fields.pop("key", ""), fields.pop("models", ())
        provider = self.provider()
        server = services.server_of(provider)
        for name, value in fields.items():
            setattr(provider, name, value)
        if provider.headers and services.server_of(provider) != server:
            raise InvalidInput.at(
                "base_url",
                "Change the server on the provider's page, where its headers are entered again.",
            )
        services.save_provider(provider, key=key, models=models)
        return self.retrieve(request)

    def destroy(self, request: Request, **_: Any) -> Response:
        """Remove a provider.

        Its key is deleted. Runs that use it pause; their results stay.
        """
        services.remove_provider(self.provider())
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(responses={204: None})
    @action(detail=True, methods=["delete"])
    def key(self, request: Request, **_: Any) -> Response:
        """Remove the key.

        Runs that use it pause and say why.
        """
        services.remove_key(self.provider())
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(request=ProviderTestSerializer, responses={200: ProviderCheckSerializer})
    @action(detail=True, methods=["post"])
    def test(self, request: SignedInApiRequest, **_: Any) -> Response:
        """Test a provider.

        Real calls, within 20 seconds: a list of models, and a tiny question to one of them.
        """
        selectors.check_may_change(request.user)
        provider, name = self.provider(), self.read_body(ProviderTestSerializer).get("model")
        model = provider.models.filter(name=name).first() if name else None
        if name and model is None:
            raise NotFound(f"The provider {provider} has no model '{name}'.")
        found = check_provider(provider, model)
        if found.ok:
            services.note_passed_test(provider)
        return Response(ProviderCheckSerializer(found).data)


class ProviderViewSet(ProvidersViewSet, ProjectViewSet):
    """The providers of a project, for its managers. The shared ones are in ``models/``."""

    read_right = Right.MANAGE

    @property
    def owner(self) -> Project:  # type: ignore[override]  # read only
        """The project in the address."""
        return self.project


class SharedProviderViewSet(ProvidersViewSet, OperatorViewSet):
    """The providers whose models every project may use, for operators."""


router = Router()
router.register("models", ModelViewSet, "api_model_list")
router.register("projects/<slug:slug>/providers", ProviderViewSet, "api_provider")
router.register("providers", SharedProviderViewSet, "api_shared_provider")
urlpatterns = router.urls
