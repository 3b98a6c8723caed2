"""Providers and models: set-up, and what is learnt about them."""

import logging
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, Protocol
from urllib.parse import urlsplit

from django.conf import settings
from django.db import transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Greatest
from django.utils import timezone

from apps.common.audit import Action, differences, record
from apps.common.charts import TEXT_MATCHER
from apps.common.prepared import prepared
from apps.common.sealing import seal
from apps.common.validation import check_model
from apps.llm import selectors
from apps.llm.addresses import check_base_url, host_of
from apps.llm.call_metrics import Use
from apps.llm.capabilities import Capability
from apps.llm.models import DailyUse, ModelSpec, PromptVersion, Provider
from apps.llm.presets import preset_of
from apps.projects.models import Project
from labelhub.core.errors import Conflict, InvalidInput, NotFound
from labelhub.core.phrases import Phrase

logger = logging.getLogger(__name__)

#: Stored lessons about a model.
MOST_LESSONS = 20
#: Characters of a key.
LONGEST_KEY = 1000
SEEDED_KEY = "LABELHUB_LLM_API_KEY"
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
_BEGINS, _ENDS = "LABELHUB_LLM_", "_API_KEY"


class Prompt(Protocol):
    """A prompt as the library reads it from its file."""

    @property
    def name(self) -> str:
        """``protocol/role``."""
        ...

    @property
    def hash(self) -> str:
        """SHA-256 of the normalised body, hexadecimal."""
        ...

    @property
    def body(self) -> str:
        """The file's text."""
        ...


def ensure_builtin() -> ModelSpec:
    """The text matcher, made on first use. It costs nothing."""
    provider, _ = Provider.objects.get_or_create(
        kind=Provider.Kind.OFFLINE, defaults={"name": TEXT_MATCHER}
    )
    model, _ = ModelSpec.objects.get_or_create(
        provider=provider,
        name=selectors.OFFLINE_MODEL,
        defaults={"price_in": Decimal(0), "price_out": Decimal(0)},
    )
    model.provider = provider
    return model


def seed_from_environment() -> list[ModelSpec]:
    """The models that LABELHUB_LLM_BASE_URL and LABELHUB_LLM_MODEL ask for; safe to repeat.

    Raises:
        AddressRefused: the base URL cannot be used.
    """
    if not settings.LABELHUB_LLM_BASE_URL:
        return []
    base_url = check_base_url(settings.LABELHUB_LLM_BASE_URL)
    with transaction.atomic():
        provider = _seeded_provider(base_url)
        return [_registered(provider, name) for name in selectors.seeded_names()]


def known_model(name: str, project: Project | None) -> ModelSpec:
    """The model of that name that ``project`` may use, for people and programs to choose from.

    Raises:
        UnknownModelName: there is none; nothing is made.
        AmbiguousModelName: several providers have it.
    """
    if name == selectors.OFFLINE_MODEL:
        return ensure_builtin()
    models = selectors.list_models(project)
    try:
        return selectors.find_model(name, models)
    except selectors.UnknownModelName:
        if name.strip() not in selectors.seeded_names():
            raise
    seed_from_environment()
    return selectors.find_model(name, models)


def check_usable(models: Iterable[ModelSpec], project: Project) -> None:
    """Refuse models of other projects and of removed providers. ``provider`` is loaded.

    Raises:
        UnknownModelName: one of them may not be used; the message tells no more than its name.
    """
    for model in models:
        mine = model.provider.project_id in (None, project.pk)
        if not mine or model.provider.removed_at is not None:
            raise selectors.UnknownModelName(
                Phrase(
                    "The project %(project)s has no model '%(title)s'.",
                    project=project,
                    title=model.title,
                )
            )


def model_for_run(name: str, project: Project | None) -> ModelSpec:
    """The model that an operator names on the command line. It may be any model of the endpoint in
    the environment, which uses its key; over HTTP only :func:`known_model` may be used.

    Raises:
        UnknownModelName: nothing of that name, and no endpoint in the environment to ask.
        AmbiguousModelName: several providers have it.
    """
    try:
        return known_model(name, project)
    except selectors.UnknownModelName:
        if not settings.LABELHUB_LLM_BASE_URL or not name.strip():
            raise
    seed_from_environment()
    shared = selectors.list_providers(None)
    model = _registered(shared.get(name=selectors.SEEDED_PROVIDER), name.strip())
    if model.purpose != ModelSpec.Purpose.CHAT:
        raise selectors.UnknownModelName(
            Phrase("Model '%(model)s' makes embeddings; no run can ask it.", model=model)
        )
    return model


#: Settings whose values the audit log may hold; of headers only that they changed.
_RECORDED = (
    "name", "base_url", "api_version", "api_key_env", "max_concurrency", "rpm", "tpm", "rpd", "tpd",
)  # fmt: skip


def _record_provider(before: Provider | None, provider: Provider) -> None:
    changes = differences(
        {name: getattr(before, name) for name in _RECORDED} if before else {},
        {name: getattr(provider, name) for name in _RECORDED},
    )
    if before is None:
        record(Action.PROVIDER_CREATED, provider, changes=changes)
        return
    if before.headers != provider.headers:
        changes["headers"] = (None, None)
    if changes:
        record(Action.PROVIDER_CHANGED, provider, changes=changes)


@transaction.atomic
def save_provider(
    provider: Provider,
    *,
    key: str = "",
    models: Sequence[Mapping[str, Any]] = (),
    test_failed: bool | None = None,
) -> Provider:
    """Check and store ``provider``, new or changed.

    Args:
        provider: with a project only that may use it.
        key: replaces the stored key and the variable; empty: both stay as they are.
        models: fields of models to add, or to change by their ``name``.
        test_failed: whether a test of what is saved failed; None: there was none, and an earlier
            one counts as long as address and key stay.

    Raises:
        InvalidInput: a field is wrong; the message names it. A stored key is only sent to the
            server for which it was entered: another one needs it again.
        AddressRefused: the base URL must not be used.
        Conflict: the built-in provider is not edited, and none moves to another project.
        NotFound: the provider was removed.
    """
    before = Provider.objects.select_for_update().filter(pk=provider.pk).first()
    prepare_provider(provider, key=key)
    moved = before is not None and before.base_url != provider.base_url
    if test_failed is None:
        test_failed = before is not None and before.test_failed and not (moved or key)
    provider.test_failed = test_failed
    provider.save()
    _record_provider(before, provider)
    if key:
        record(Action.PROVIDER_KEY_SET, provider)
    if moved:
        _forget_endpoint(provider)
    for fields in models:
        save_model(_changed_model(provider, fields))
    return provider


def prepare_provider(provider: Provider, *, key: str = "") -> None:
    """Check ``provider`` and give it ``key``, without storing anything. Raises as
    :func:`save_provider`."""
    if provider.kind == Provider.Kind.OFFLINE:
        raise Conflict(
            "The %(text_matcher)s is built in and has no settings.", text_matcher=TEXT_MATCHER
        )
    before = Provider.objects.filter(pk=provider.pk).first()
    if before is not None:
        _follow(before, provider)
    provider.base_url = check_base_url(provider.base_url, private=provider.private_allowed)
    check_key_name(provider.api_key_env)
    if "/" in provider.name:
        raise InvalidInput("name: must not contain '/', which separates provider and model.")
    if key:
        provider.sealed_key, provider.api_key_env = seal(check_key(key).encode()), ""
        provider.key_changed_at = timezone.now()
    elif provider.api_key_env:
        provider.sealed_key = None
    elif before is not None and before.sealed_key and server_of(before) != server_of(provider):
        raise InvalidInput.at(
            "key", "Enter the key again: it is only sent to the server that it was entered for."
        )
    check_model(provider)


def _follow(before: Provider, provider: Provider) -> None:
    """Take over the key, which another request may have replaced or removed since ``provider`` was
    read. Raises as :func:`save_provider`."""
    if before.project_id != provider.project_id:
        raise Conflict("A provider stays in its project.")
    if before.removed_at is not None:
        raise NotFound("There is no such provider.")
    provider.sealed_key, provider.key_changed_at = before.sealed_key, before.key_changed_at


def note_passed_test(provider: Provider) -> None:
    """``provider`` has passed a test, unless its address or key changed meanwhile. A later test
    that fails changes no default: the trouble may be over soon."""
    decisive = ("pk", "base_url", "api_version", "api_key_env", "sealed_key")
    same = {name: getattr(provider, name) for name in decisive}
    Provider.objects.filter(**same).update(test_failed=False)


@transaction.atomic
def remove_key(provider: Provider) -> Provider:
    """Forget the key of ``provider``. Runs that use it pause and say why.

    Raises:
        Conflict: it has none.
    """
    if provider.key_state not in (Provider.KeyState.STORED, Provider.KeyState.VARIABLE):
        raise Conflict("The provider %(provider)s has no key.", provider=provider)
    provider.sealed_key, provider.api_key_env = None, ""
    provider.key_changed_at = timezone.now()
    provider.save(update_fields=["sealed_key", "api_key_env", "key_changed_at"])
    record(Action.PROVIDER_KEY_REMOVED, provider)
    return provider


def pause_provider(provider: Provider, *, paused: bool) -> bool:
    """Let nothing call ``provider``, or let all call it again; False if it was so already. Runs
    that use it pause and say why; they are resumed by hand.

    Raises:
        Conflict: the built-in provider is not paused.
    """
    if provider.kind == Provider.Kind.OFFLINE:
        raise Conflict("The %(text_matcher)s is built in and stays.", text_matcher=TEXT_MATCHER)
    now = timezone.now() if paused else None
    with transaction.atomic():
        rows = Provider.objects.filter(pk=provider.pk, paused_at__isnull=paused, removed_at=None)
        if not rows.update(paused_at=now):
            return False
        record(Action.PROVIDER_CHANGED, provider, changes={"paused": (not paused, paused)})
    provider.paused_at = now
    return True


@transaction.atomic
def remove_provider(provider: Provider) -> None:
    """Forget its key and headers and offer it no more. Its row stays for the runs that used it; a
    run that goes on pauses and says why.

    Raises:
        Conflict: the built-in provider stays.
    """
    if provider.kind == Provider.Kind.OFFLINE:
        raise Conflict("The %(text_matcher)s is built in and stays.", text_matcher=TEXT_MATCHER)
    provider.sealed_key, provider.api_key_env, provider.headers = None, "", {}
    provider.removed_at = provider.key_changed_at = timezone.now()
    provider.save()
    record(Action.PROVIDER_REMOVED, provider)


def check_key(key: str) -> str:
    """The key as it is stored.

    Raises:
        InvalidInput: no header can carry it.
    """
    key = key.strip()
    if not (key.isascii() and key.isprintable() and " " not in key and 0 < len(key) <= LONGEST_KEY):
        raise InvalidInput.at(
            "key", "This cannot be a key: copy it again, without blanks or line breaks."
        )
    return key


def server_of(provider: Provider) -> tuple[str, str]:
    """Where the key and the headers of ``provider`` are sent."""
    parts = urlsplit(provider.base_url)
    return parts.scheme, parts.netloc.lower()


def _changed_model(provider: Provider, fields: Mapping[str, Any]) -> ModelSpec:
    known = provider.models.filter(name=fields["name"]).first()
    model = known or ModelSpec(name=fields["name"], **preset_of(provider).model)
    model.provider = provider
    for name, value in fields.items():
        setattr(model, name, value)
    return model


@transaction.atomic
def save_model(model: ModelSpec) -> ModelSpec:
    """Check and store ``model``, new or changed.

    Raises:
        InvalidInput: a field is wrong; the message names it.
        Conflict: the built-in model is not edited.
    """
    if model.offline:
        raise Conflict("The %(title)s is built in and has no settings.", title=model.title)
    check_model(model)
    before = ModelSpec.objects.filter(pk=model.pk).first()
    if before is None or before.prices != model.prices:
        model.priced_at = timezone.localdate() if any_price(model) else None
    if before is not None and (before.name, before.provider_id) != (model.name, model.provider_id):
        # Only fields that are not set by this change.
        unset = {lesson["field"] for lesson in model.learnt}
        unset = {name for name in unset if getattr(before, name) == getattr(model, name)}
        _set_back(model, unset)
    model.save()
    prices = {"name": model.name, "price_in": model.price_in, "price_out": model.price_out}
    known = {name: getattr(before, name) for name in prices} if before else {}
    record(
        Action.MODEL_CHANGED if before else Action.MODEL_CREATED,
        model,
        project=model.provider.project,
        changes=differences(known, prices),
    )
    return model


def any_price(model: ModelSpec) -> bool:
    """Whether any price of ``model`` is known."""
    return model.price_in is not None or model.price_out is not None


def check_key_name(name: str) -> None:
    """Refuse names of variables that may not hold a provider's key.

    Raises:
        InvalidInput: it looks like a key itself, or is not a variable for keys. The environment
            holds other secrets, and LabelHub sends the variable's value to the provider.
    """
    if name and not _VARIABLE.fullmatch(name):
        raise InvalidInput(
            "Enter the name of an environment variable (letters, digits, _), not the key."
        )
    if name and not may_hold_a_key(name):
        raise InvalidInput(
            "%(name)s is not a variable for keys: take one that begins with LABELHUB_LLM_ or ends "
            "with _API_KEY, or list it in LABELHUB_LLM_KEY_VARIABLES.",
            name=name,
        )


def may_hold_a_key(name: str) -> bool:
    """Whether the environment variable ``name`` is one whose value may be sent to a provider."""
    usual = name.startswith(_BEGINS) or name.endswith(_ENDS)
    return usual or name in settings.LABELHUB_LLM_KEY_VARIABLES


def remember_prompt(prompt: Prompt) -> PromptVersion:
    """Store the prompt's text under its hash, once."""
    known = _version_with_hash.first(prompt.hash)
    if known is not None:
        return known
    version, _ = PromptVersion.objects.get_or_create(
        hash=prompt.hash, defaults={"name": prompt.name, "body": prompt.body}
    )
    return version


@prepared
def _version_with_hash(hash_: str) -> QuerySet[PromptVersion]:
    return PromptVersion.objects.filter(hash=hash_)


def learn_capability(spec: ModelSpec, capability: Capability) -> None:
    """Store a capability of ``spec``, on the object and in its row: once where several calls learn
    the same, and in place of an older value."""
    with transaction.atomic():
        kept = ModelSpec.objects.select_for_update().filter(pk=spec.pk).first()
        if kept is None:
            return
        # The largest room for thinking counts, as another process may not know it yet. Only a call
        # that knew the stored value may lower it.
        value, known = capability.value, kept.thinking_tokens
        if capability.field == "thinking_tokens" and known not in (None, capability.down_from):
            value = max(known, value)
        if getattr(kept, capability.field) != value:
            kept.learnt = _with_lesson(kept, replace(capability, value=value))
            setattr(kept, capability.field, value)
            kept.save(update_fields=[capability.field, "learnt"])
            logger.info("Model %s: learnt %s = %s", spec.name, capability.field, value)
    setattr(spec, capability.field, value)
    spec.learnt = kept.learnt


def _with_lesson(kept: ModelSpec, capability: Capability) -> list[Any]:
    """The lessons of ``kept`` with a new one, which replaces an older one about the same field."""
    before = next((known for known in kept.learnt if known["field"] == capability.field), None)
    lesson = {
        "field": capability.field,
        "value": capability.value,
        "was": before["was"] if before else getattr(kept, capability.field),
        "said": capability.reason,
        "at": timezone.now().isoformat(timespec="seconds"),
    }
    others = [known for known in kept.learnt if known["field"] != capability.field]
    # Do not list that a model does not think.
    worth_showing = capability.value != 0 or capability.field != "thinking_tokens"
    return [*others, lesson][-MOST_LESSONS:] if worth_showing else others


def forget_learnt(model: ModelSpec) -> ModelSpec:
    """Undo everything that was learnt about ``model``."""
    with transaction.atomic():
        kept = ModelSpec.objects.select_for_update().get(pk=model.pk)
        _set_back(kept, {lesson["field"] for lesson in kept.learnt})
        kept.save()
        changes = {"learnt": (None, None)}
        record(Action.MODEL_CHANGED, kept, project=kept.provider.project, changes=changes)
    return kept


def _set_back(model: ModelSpec, fields: set[str]) -> None:
    """Reset ``fields`` to their values before they were learnt, and forget all lessons."""
    for lesson in reversed(model.learnt):
        if lesson["field"] in fields:
            setattr(model, lesson["field"], lesson["was"])
    model.learnt = []
    # Nobody sets these by hand; they are learnt again.
    model.thinking_tokens = model.output_limit = None


def _forget_endpoint(provider: Provider) -> None:
    """Forget what was learnt about a provider and its models, as its endpoint has changed."""
    for model in provider.models.all():
        forget_learnt(model)
    provider.learnt_limits, provider.rate_limited = {}, {}
    provider.save(update_fields=["learnt_limits", "rate_limited"])


def keep_limits(provider: Provider, learnt: Mapping[str, int]) -> None:
    """Store the limits from the endpoint's answers, with the time, for the provider's page."""
    limits = {**learnt, "at": timezone.now().isoformat(timespec="seconds")}
    Provider.objects.filter(pk=provider.pk).update(learnt_limits=limits)


def keep_limited(provider: Provider, limited: Mapping[str, float]) -> None:
    """Store since when ``provider`` has answered every call with "too many requests"."""
    provider.rate_limited = dict(limited)
    Provider.objects.filter(pk=provider.pk).update(rate_limited=provider.rate_limited)


def used_today(provider: Provider) -> tuple[int, int]:
    """Requests and tokens of this day (UTC), by all processes."""
    use = DailyUse.objects.filter(provider=provider, day=_today()).first()
    return (use.requests, use.tokens) if use else (0, 0)


def add_use(provider: Provider, use: Use) -> None:
    """Add to what was used today. Tokens that were reserved and not needed are taken back."""
    today, _ = DailyUse.objects.get_or_create(provider=provider, day=_today())
    added = {name: Greatest(F(name) + more, 0) for name, more in use._asdict().items() if more}
    DailyUse.objects.filter(pk=today.pk).update(**added)


def _today() -> date:
    return datetime.now(UTC).date()


def _seeded_provider(base_url: str) -> Provider:
    key_env = SEEDED_KEY if os.environ.get(SEEDED_KEY) else ""
    provider, created = Provider.objects.get_or_create(
        name=selectors.SEEDED_PROVIDER,
        project=None,
        removed_at=None,
        defaults={"base_url": base_url, "api_key_env": key_env},
    )
    moved = provider.base_url != base_url
    missing = key_env and provider.key_state == Provider.KeyState.NONE
    if not created and (moved or missing):
        # Without a variable the key is removed only for a new address: another process may have it.
        provider.base_url, provider.api_key_env = base_url, key_env
        provider.sealed_key = None
        provider.save(update_fields=["base_url", "api_key_env", "sealed_key"])
        if moved:
            _forget_endpoint(provider)
        logger.info("Provider %s now at %s", provider.name, host_of(base_url))
    return provider


def _registered(provider: Provider, name: str) -> ModelSpec:
    model, _ = ModelSpec.objects.get_or_create(provider=provider, name=name)
    model.provider = provider
    return model
