"""Find models and providers."""

from django.conf import settings
from django.db.models import QuerySet

from apps.llm.models import ModelSpec, Provider
from labelhub.core.errors import Conflict, NotFound

OFFLINE_PROVIDER = "Offline model (not an LLM)"
OFFLINE_MODEL = "offline"
#: The provider that LABELHUB_LLM_BASE_URL seeds.
SEEDED_PROVIDER = "Environment"


class UnknownModelName(NotFound):
    """No model of that name is configured here."""

    code = "unknown_model_name"


class AmbiguousModelName(Conflict):
    """Several providers offer a model of that name."""

    code = "ambiguous_model_name"


def list_models() -> QuerySet[ModelSpec]:
    """The models that runs may name, with their providers, by provider and name."""
    return all_models().filter(purpose=ModelSpec.Purpose.CHAT)


def embedding_models() -> QuerySet[ModelSpec]:
    """The models that make embeddings, with their providers, by provider and name."""
    return all_models().filter(purpose=ModelSpec.Purpose.EMBEDDING)


def all_models() -> QuerySet[ModelSpec]:
    """All models of any purpose with their providers, by provider and name."""
    return ModelSpec.objects.select_related("provider")


def list_providers() -> QuerySet[Provider]:
    """All providers with their models, by name."""
    return Provider.objects.prefetch_related("models__provider")


def find_model(name: str, among: QuerySet[ModelSpec] | None = None) -> ModelSpec:
    """The model called ``name`` or ``provider/name``, with its provider loaded; by default
    ``among`` those that runs may name.

    Raises:
        UnknownModelName: none is; the message lists the known names.
        AmbiguousModelName: several are; the message lists them with their providers.
    """
    name = name.strip()
    models = list_models() if among is None else among
    found = list(models.filter(name=name))
    if not found:
        provider, _, rest = name.partition("/")
        found = list(models.filter(provider__name=provider, name=rest))
    if not found:
        known = dict.fromkeys([*models.values_list("name", flat=True)[:40], *seeded_names()])
        raise UnknownModelName(f"No model '{name}' here. Known: {', '.join(known) or 'none yet'}.")
    if len(found) > 1:
        choice = ", ".join(f"{model.provider.name}/{model.name}" for model in found)
        raise AmbiguousModelName(f"Several models are called '{name}': choose one of {choice}.")
    return found[0]


def default_model() -> ModelSpec:
    """The first model of LABELHUB_LLM_MODEL if it is set up, otherwise the offline model.

    Raises:
        UnknownModelName: not even the offline model was set up (``services.ensure_builtin``).
    """
    seeded = seeded_names()
    if seeded:
        model = list_models().filter(provider__name=SEEDED_PROVIDER, name=seeded[0]).first()
        if model is not None:
            return model
    return find_model(OFFLINE_MODEL)


def default_models() -> list[ModelSpec]:
    """All models of LABELHUB_LLM_MODEL that are set up, in its order, otherwise the offline model.

    Raises:
        UnknownModelName: as :func:`default_model`.
    """
    names = seeded_names()
    found = {model.name: model for model in list_models().filter(provider__name=SEEDED_PROVIDER)}
    return [found[name] for name in names if name in found] or [default_model()]


def seeded_names() -> list[str]:
    """The model names in LABELHUB_LLM_MODEL, in their order; none without a base URL."""
    if not settings.LABELHUB_LLM_BASE_URL:
        return []
    return [name.strip() for name in settings.LABELHUB_LLM_MODEL.split(",") if name.strip()]


def get_provider(provider_id: int) -> Provider:
    """The provider of that id.

    Raises:
        NotFound: there is none.
    """
    provider = Provider.objects.filter(pk=provider_id).first()
    if provider is None:
        raise NotFound("There is no such provider.")
    return provider
