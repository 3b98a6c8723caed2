"""Where models live and what they cost. Keys are named here, never stored."""

from django.core.validators import MinValueValidator
from django.db import models
from django.utils import timezone


class Provider(models.Model):
    """One OpenAI-compatible endpoint, or the built-in offline model."""

    class Kind(models.TextChoices):
        OPENAI = "openai", "OpenAI-compatible endpoint"
        OFFLINE = "offline", "Offline model (not an LLM)"

    name = models.CharField(max_length=100, unique=True)
    kind = models.CharField(max_length=10, choices=Kind.choices, default=Kind.OPENAI)
    # Not an URLField, whose check refuses a bare host name such as http://vllm:8000/v1.
    base_url = models.CharField(blank=True, max_length=500)
    api_key_env = models.CharField(
        max_length=100, blank=True, help_text="Name of the environment variable that holds the key."
    )
    connect_timeout = models.FloatField(default=5, help_text="Seconds.")
    read_timeout = models.FloatField(default=120, help_text="Seconds.")
    max_concurrency = models.PositiveSmallIntegerField(
        default=64, validators=[MinValueValidator(1)]
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class ModelSpec(models.Model):
    """One model of a provider: what it costs and which parameters it takes."""

    class MaxTokensParam(models.TextChoices):
        MAX_TOKENS = "max_tokens", "max_tokens"
        MAX_COMPLETION_TOKENS = "max_completion_tokens", "max_completion_tokens"

    class SystemRole(models.TextChoices):
        SYSTEM = "system", "system"
        DEVELOPER = "developer", "developer"
        MERGE = "merge", "put before the user message"

    provider = models.ForeignKey(Provider, on_delete=models.CASCADE, related_name="models")
    name = models.CharField(max_length=200, help_text="As the provider spells it.")
    price_in = models.DecimalField(
        max_digits=12,
        decimal_places=6,
        null=True,
        blank=True,
        help_text="USD per million tokens; empty = unknown.",
    )
    price_out = models.DecimalField(
        max_digits=12,
        decimal_places=6,
        null=True,
        blank=True,
        help_text="USD per million tokens; empty = unknown.",
    )
    takes_temperature = models.BooleanField(
        default=True, help_text="Learnt from the endpoint when it refuses."
    )
    max_tokens_param = models.CharField(
        max_length=30, choices=MaxTokensParam.choices, default=MaxTokensParam.MAX_TOKENS
    )
    system_role = models.CharField(
        max_length=10, choices=SystemRole.choices, default=SystemRole.SYSTEM
    )
    max_output_tokens = models.PositiveIntegerField(default=1024)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["provider__name", "name"]
        constraints = [models.UniqueConstraint(fields=["provider", "name"], name="llm_model_once")]

    def __str__(self) -> str:
        return self.name

    @property
    def offline(self) -> bool:
        """Whether this is the built-in text matcher, which is not an LLM."""
        return self.provider.kind == Provider.Kind.OFFLINE


class PromptVersion(models.Model):
    """A prompt file as it was when first used; its content hash is its version."""

    hash = models.CharField(max_length=64, unique=True)
    name = models.CharField(max_length=200, help_text="protocol/role")
    body = models.TextField()
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["name", "-created_at"]

    def __str__(self) -> str:
        return f"{self.name} {self.hash[:12]}"
