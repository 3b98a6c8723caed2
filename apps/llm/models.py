"""Providers, models and prompts. A provider has a sealed key, or names the variable of its key."""

import json
import time
from collections.abc import Callable, Mapping
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from apps.common.sealing import SealedField
from apps.llm.extras import check_extra_body, check_headers
from apps.projects.models import Project
from labelhub.core.errors import InvalidInput

#: Seconds after its last refusal for which a provider counts as one that refuses all calls.
LIMITED_SECONDS = 900.0


def _checked(field: str, check: Callable[[Any], Any], raw: Any) -> Any:
    try:
        return check(raw)
    except InvalidInput as error:
        faults = [fault["message"] for fault in error.data["errors"]]
        raise ValidationError({field: faults}) from None


class Provider(models.Model):
    """One OpenAI-compatible endpoint, an Azure resource whose models are its deployments, or the
    built-in text matcher. Without a project it is shared: operators set it up for all."""

    class Kind(models.TextChoices):
        OPENAI = "openai", _("OpenAI-compatible endpoint")
        AZURE = "azure", _("Azure OpenAI resource")
        OFFLINE = "offline", _("Text matcher (demo)")

    class KeyState(models.TextChoices):
        STORED = "stored", _("stored")
        VARIABLE = "variable", _("in an environment variable")
        REMOVED = "removed", _("removed")
        NONE = "none", _("no key")

    project = models.ForeignKey(
        Project,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="providers",
        help_text="The only project that may use it; empty = shared by all.",
    )
    name = models.CharField(max_length=100)
    preset = models.CharField(max_length=20, blank=True, help_text="See apps/llm/presets.toml.")
    kind = models.CharField(max_length=10, choices=Kind.choices, default=Kind.OPENAI)
    # Not an URLField, whose check refuses a bare host name such as http://vllm:8000/v1.
    base_url = models.CharField(blank=True, max_length=500)
    api_version = models.CharField(max_length=40, blank=True, help_text="Of an Azure resource.")
    api_key_env = models.CharField(
        max_length=100, blank=True, help_text="Name of the environment variable that holds the key."
    )
    sealed_key = SealedField(null=True, editable=False)
    key_changed_at = models.DateTimeField(null=True, editable=False)
    connect_timeout = models.FloatField(default=5, help_text="Seconds.")
    read_timeout = models.FloatField(default=120, help_text="Seconds.")
    max_concurrency = models.PositiveSmallIntegerField(
        default=64, validators=[MinValueValidator(1)]
    )
    rpm = models.PositiveIntegerField(null=True, blank=True, validators=[MinValueValidator(1)])
    tpm = models.PositiveBigIntegerField(null=True, blank=True, validators=[MinValueValidator(1)])
    rpd = models.PositiveIntegerField(null=True, blank=True, validators=[MinValueValidator(1)])
    tpd = models.PositiveBigIntegerField(null=True, blank=True, validators=[MinValueValidator(1)])
    headers = models.JSONField(
        default=dict, blank=True, help_text="Sent with every request; values are shown nowhere."
    )
    learnt_limits = models.JSONField(
        default=dict,
        blank=True,
        editable=False,
        help_text="What the endpoint's answers said last: rpm, tpm, rpd, tpd, at.",
    )
    rate_limited = models.JSONField(
        default=dict,
        blank=True,
        editable=False,
        help_text="Since when it has answered nothing but 429, and when last; empty: it has not.",
    )
    test_failed = models.BooleanField(
        default=False,
        editable=False,
        help_text="Saved although its test failed: nothing takes its models by default.",
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    paused_at = models.DateTimeField(
        null=True,
        editable=False,
        help_text="An operator lets nothing call it until they resume it.",
    )
    removed_at = models.DateTimeField(
        null=True, editable=False, help_text="Kept for the runs that used it, offered no more."
    )

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(
                fields=["project", "name"],
                condition=Q(removed_at__isnull=True),
                name="llm_provider_once",
                violation_error_message=_("There is already a provider of this name."),
            ),
            # NULLs differ from each other.
            models.UniqueConstraint(
                fields=["name"],
                condition=Q(project__isnull=True, removed_at__isnull=True),
                name="llm_shared_provider_once",
                violation_error_message=_("There is already a provider of this name."),
            ),
            models.CheckConstraint(
                condition=Q(project__isnull=True) | Q(api_key_env=""),
                name="llm_variables_are_operators",
                violation_error_message="Only operators may name an environment variable.",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def key_state(self) -> KeyState:
        """Where its key is."""
        if self.sealed_key:
            return self.KeyState.STORED
        if self.api_key_env:
            return self.KeyState.VARIABLE
        return self.KeyState.REMOVED if self.key_changed_at else self.KeyState.NONE

    @property
    def state(self) -> str:
        """``ok``, ``paused``, ``limited`` (it refused all calls of the last minutes), ``failing``
        (its test) or ``removed``."""
        if self.removed_at is not None:
            return "removed"
        if self.paused_at is not None:
            return "paused"
        if time.time() - self.rate_limited.get("last", 0.0) < LIMITED_SECONDS:
            return "limited"
        return "failing" if self.test_failed else "ok"

    @property
    def private_allowed(self) -> bool:
        """Whether it may be on this machine or in a private network."""
        return self.project_id is None or bool(settings.LABELHUB_LLM_PRIVATE)

    def clean(self) -> None:
        """Check what depends on several fields.

        Raises:
            ValidationError: a header is not allowed, or Azure's version is missing.
        """
        if self.kind == self.Kind.AZURE and not self.api_version:
            raise ValidationError({"api_version": _("Azure needs one, such as 2024-10-21.")})
        self.headers = _checked("headers", check_headers, self.headers)


class DailyUse(models.Model):
    """The use of a provider on one day (UTC), by all processes: its daily limits count by it, and
    operators see by it what was spent. ``errors`` of the requests had no usable answer. Where
    ``unpriced`` calls had a model without a price, ``cost_nanousd`` is too low."""

    provider = models.ForeignKey(Provider, on_delete=models.CASCADE, related_name="daily_use")
    day = models.DateField()
    requests = models.PositiveBigIntegerField(default=0)
    tokens = models.PositiveBigIntegerField(default=0)
    cost_nanousd = models.BigIntegerField(default=0, db_default=0)
    errors = models.PositiveBigIntegerField(default=0, db_default=0)
    unpriced = models.PositiveBigIntegerField(default=0, db_default=0)

    class Meta:
        ordering = ["-day"]
        constraints = [models.UniqueConstraint(fields=["provider", "day"], name="llm_day_once")]

    def __str__(self) -> str:
        return f"{self.provider_id} {self.day}"


def _price(meaning_of_empty: str) -> "models.DecimalField[Any, Any]":
    return models.DecimalField(
        max_digits=12,
        decimal_places=6,
        null=True,
        blank=True,
        validators=[MinValueValidator(0)],
        help_text=f"USD per million tokens; empty = {meaning_of_empty}.",
    )


class ModelSpec(models.Model):
    """One model of a provider: what it costs and which parameters it takes."""

    class MaxTokensParam(models.TextChoices):
        MAX_TOKENS = "max_tokens", _("max_tokens")
        MAX_COMPLETION_TOKENS = "max_completion_tokens", _("max_completion_tokens")

    class SystemRole(models.TextChoices):
        SYSTEM = "system", _("system")
        DEVELOPER = "developer", _("developer")
        MERGE = "merge", _("put before the user message")

    class Purpose(models.TextChoices):
        CHAT = "chat", _("labelling and debating")
        EMBEDDING = "embedding", _("embeddings of texts")

    class Structured(models.TextChoices):
        NONE = "none", _("none: free text")
        JSON_OBJECT = "json_object", _("any JSON object")
        JSON_SCHEMA = "json_schema", _("JSON by a schema")

    class Effort(models.TextChoices):
        NONE = "none", _("none")
        MINIMAL = "minimal", _("minimal")
        LOW = "low", _("low")
        MEDIUM = "medium", _("medium")
        HIGH = "high", _("high")
        OMIT = "omit", _("never sent")

    provider = models.ForeignKey(Provider, on_delete=models.CASCADE, related_name="models")
    name = models.CharField(max_length=200, help_text="As the provider spells it.")
    purpose = models.CharField(max_length=10, choices=Purpose.choices, default=Purpose.CHAT)
    price_in = _price("unknown")
    price_out = _price("unknown")
    price_cached_in = _price("as other input")
    price_reasoning = _price("as other output")
    priced_at = models.DateField(null=True, blank=True, editable=False)
    context_tokens = models.PositiveIntegerField(
        null=True, blank=True, help_text="Longest input and answer together; empty = unknown."
    )
    takes_temperature = models.BooleanField(
        default=True, help_text="Learnt from the endpoint when it refuses."
    )
    fixed_temperature = models.FloatField(
        null=True,
        blank=True,
        validators=[MinValueValidator(0)],
        help_text="Sent in place of any other; empty = as asked.",
    )
    takes_seed = models.BooleanField(default=True)
    takes_stop = models.BooleanField(default=True)
    logprobs = models.BooleanField(default=True, help_text="Learnt when the endpoint refuses.")
    structured = models.CharField(
        max_length=12,
        choices=Structured.choices,
        default=Structured.JSON_SCHEMA,
        help_text="Lowered to what the endpoint takes when it refuses.",
    )
    reasoning_effort = models.CharField(max_length=10, choices=Effort.choices, blank=True)
    extra_body = models.JSONField(
        default=dict, blank=True, help_text="Sent as it is with every request: a JSON object."
    )
    max_tokens_param = models.CharField(
        max_length=30, choices=MaxTokensParam.choices, default=MaxTokensParam.MAX_TOKENS
    )
    system_role = models.CharField(
        max_length=10, choices=SystemRole.choices, default=SystemRole.SYSTEM
    )
    max_output_tokens = models.PositiveIntegerField(default=1024)
    thinking_tokens = models.PositiveIntegerField(
        null=True,
        blank=True,
        editable=False,
        help_text="Added to the longest answer for what the model thinks; empty: not known yet.",
    )
    output_limit = models.PositiveIntegerField(
        null=True,
        blank=True,
        editable=False,
        help_text="The longest answer that the endpoint takes; learnt when it refuses.",
    )
    learnt = models.JSONField(
        default=list,
        blank=True,
        editable=False,
        help_text="What refusals taught: field, value, what was said, and when.",
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["provider__name", "name"]
        constraints = [models.UniqueConstraint(fields=["provider", "name"], name="llm_model_once")]

    def __str__(self) -> str:
        return self.name

    @property
    def title(self) -> str:
        """Its name for people."""
        return str(Provider.Kind.OFFLINE.label) if self.offline else self.name

    @property
    def full_title(self) -> str:
        """Its name and its provider, for people."""
        return self.title if self.offline else f"{self.name} · {self.provider.name}"

    def clean(self) -> None:
        """Check what depends on several fields.

        Raises:
            ValidationError: the extra body is not allowed.
        """
        self.extra_body = _checked("extra_body", check_extra_body, self.extra_body)

    @property
    def prices(self) -> Mapping[str, Any]:
        """The four prices for ``cost_nanousd``. Embeddings have no output to pay."""
        unpaid = 0 if self.purpose == self.Purpose.EMBEDDING else None
        return {
            "price_in": self.price_in,
            "price_out": unpaid if self.price_out is None else self.price_out,
            "price_cached_in": self.price_cached_in,
            "price_reasoning": self.price_reasoning,
        }

    @property
    def prices_known(self) -> bool:
        """Whether the prices for a budget are known; 0 is a price."""
        return self.prices["price_in"] is not None and self.prices["price_out"] is not None

    @property
    def free(self) -> bool:
        """Whether it is known to be free."""
        return self.prices_known and not any(self.prices.values())

    @property
    def identity(self) -> tuple[str, str]:
        """The endpoint and settings that, with the call, decide an answer."""
        form = self.structured if self.answers_in_json else self.Structured.NONE
        about = [self.name, self.max_output_tokens, self.reasoning_effort, self.extra_body, form]
        return f"{self.provider_id} {self.provider.base_url}", json.dumps(about, sort_keys=True)

    @property
    def answers_in_json(self) -> bool:
        """Whether calls ask for JSON if their prompt has a form for it."""
        return self.structured != self.Structured.NONE and not self.offline

    @property
    def offline(self) -> bool:
        """Whether this is the built-in text matcher, which is not an LLM."""
        return self.provider.kind == Provider.Kind.OFFLINE


class PromptVersion(models.Model):
    """The text of a prompt file at its first use; its content hash is its version."""

    hash = models.CharField(max_length=64, unique=True)
    name = models.CharField(max_length=200, help_text="protocol/role")
    body = models.TextField()
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["name", "-created_at"]

    def __str__(self) -> str:
        return f"{self.name} {self.hash[:12]}"
