"""Find models and providers."""

from collections.abc import Iterable

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db.models import Q, QuerySet

from apps.accounts.models import User
from apps.llm.models import ModelSpec, Provider
from apps.projects.models import Project
from labelhub.core.errors import Conflict, Forbidden, NotFound
from labelhub.core.phrases import Phrase

#: The built-in model's name in commands and REST.
OFFLINE_MODEL = "offline"
#: The provider that LABELHUB_LLM_BASE_URL seeds.
SEEDED_PROVIDER = "Environment"


class UnknownModelName(NotFound):
    """No model of that name is configured here."""

    code = "unknown_model_name"


class AmbiguousModelName(Conflict):
    """Several providers offer a model of that name."""

    code = "ambiguous_model_name"


def usable_models(project: Project | None) -> QuerySet[ModelSpec]:
    """The models of any purpose that ``project`` may use, with their providers, by provider and
    name: the shared ones and its own. Without a project only the shared ones."""
    whose = Q(provider__project=None)
    if project is not None:
        whose |= Q(provider__project=project)
    models = ModelSpec.objects.select_related("provider")
    return models.filter(whose, provider__removed_at=None)


def list_models(project: Project | None) -> QuerySet[ModelSpec]:
    """The usable models that runs may name."""
    return usable_models(project).filter(purpose=ModelSpec.Purpose.CHAT)


def embedding_models(project: Project | None) -> QuerySet[ModelSpec]:
    """The usable models that make embeddings."""
    return usable_models(project).filter(purpose=ModelSpec.Purpose.EMBEDDING)


def models_seen_by(user: User) -> QuerySet[ModelSpec]:
    """The models that runs in any project of ``user`` may name; operators see all."""
    models = ModelSpec.objects.select_related("provider__project")
    models = models.filter(purpose=ModelSpec.Purpose.CHAT, provider__removed_at=None)
    projects = Project.objects.visible_to(user)
    return models.filter(Q(provider__project=None) | Q(provider__project__in=projects))


def list_providers(project: Project | None) -> QuerySet[Provider]:
    """The providers of ``project``, without one the shared ones, with their models, by name."""
    providers = Provider.objects.filter(project=project, removed_at=None)
    return providers.prefetch_related("models__provider")


def project_providers() -> QuerySet[Provider]:
    """The providers of all projects, by project and name."""
    providers = Provider.objects.filter(project__isnull=False, removed_at=None)
    return providers.select_related("project").order_by("project__slug", "name")


def may_change_providers(user: User | AnonymousUser) -> bool:
    """Whether ``user`` may add and change providers of the projects that they manage."""
    return user.is_superuser or bool(settings.LABELHUB_PROJECT_PROVIDERS)


def check_may_change(user: User | AnonymousUser) -> None:
    """Refuse changes by managers if an operator has switched them off.

    Raises:
        Forbidden: they are switched off; the message says who may.
    """
    if not may_change_providers(user):
        raise Forbidden(
            "On this server only operators add and change model providers: ask %(people)s.",
            people=[person.display_name for person in operators()] or Phrase("an operator"),
        )


def operators() -> QuerySet[User]:
    """The people who may do everything here, the first ones first."""
    return User.objects.filter(is_superuser=True, is_active=True).order_by("pk")[:3]


def find_model(name: str, among: QuerySet[ModelSpec]) -> ModelSpec:
    """The model called ``name`` or ``provider/name`` ``among`` these, with its provider loaded. A
    project's own model comes before a shared one of the same name.

    Raises:
        UnknownModelName: none is; the message lists the known names.
        AmbiguousModelName: several are; the message lists them with their providers.
    """
    name = name.strip()
    found = list(among.filter(name=name))
    if not found:
        provider, _, rest = name.partition("/")
        found = list(among.filter(provider__name=provider, name=rest))
    found = [model for model in found if model.provider.project_id] or found
    if not found:
        known = dict.fromkeys([*among.values_list("name", flat=True)[:40], *seeded_names()])
        raise UnknownModelName(
            "No model '%(name)s' here. Known: %(known)s.",
            name=name,
            known=list(known) or Phrase("none yet"),
        )
    if len(found) > 1:
        choice = ", ".join(f"{model.provider.name}/{model.name}" for model in found)
        raise AmbiguousModelName(
            "Several models are called '%(name)s': choose one of %(choice)s.",
            name=name,
            choice=choice,
        )
    return found[0]


def default_models(project: Project | None) -> list[ModelSpec]:
    """The first model of the project's own providers that failed no test, else all of
    LABELHUB_LLM_MODEL that are set up, in its order, else the built-in text matcher.

    Raises:
        UnknownModelName: not even that was set up (``services.ensure_builtin``).
    """
    models = list_models(project)
    own = models.filter(provider__project__isnull=False, provider__test_failed=False)
    if first := own.order_by("pk").first():
        return [first]
    shared = models.filter(provider__name=SEEDED_PROVIDER, provider__project=None)
    seeded = {model.name: model for model in shared}
    chosen = [seeded[name] for name in seeded_names() if name in seeded]
    builtin = models.filter(provider__kind=Provider.Kind.OFFLINE)
    return chosen or [find_model(OFFLINE_MODEL, builtin)]


def seeded_names() -> list[str]:
    """The model names in LABELHUB_LLM_MODEL, in their order; none without a base URL."""
    if not settings.LABELHUB_LLM_BASE_URL:
        return []
    return [name.strip() for name in settings.LABELHUB_LLM_MODEL.split(",") if name.strip()]


def get_provider(provider_id: int, project: Project | None) -> Provider:
    """The provider of ``project`` with that id; without a project, the shared one.

    Raises:
        NotFound: there is none.
    """
    provider = list_providers(project).filter(pk=provider_id).first()
    if provider is None:
        raise NotFound("There is no such provider.")
    return provider


def keys_changed(models: Iterable[ModelSpec]) -> bool:
    """Whether the key of a provider was replaced or removed, or a provider was paused, since
    ``models`` were loaded."""
    state = ("key_changed_at", "paused_at")
    known = {
        model.provider_id: tuple(getattr(model.provider, name) for name in state)
        for model in models
    }
    rows = Provider.objects.filter(pk__in=known).values_list("pk", *state)
    return any(known[pk] != tuple(now) for pk, *now in rows)
