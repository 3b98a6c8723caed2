"""Forms for operators. A key is asked for by the name of its variable, never by its value."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from apps.llm.addresses import check_base_url
from apps.llm.extras import check_headers, masked, unmasked
from apps.llm.models import ModelSpec, Provider
from apps.llm.services import check_key_name
from labelhub.core.errors import InvalidInput


class _Grouped:
    """A form in two parts: basic fields, and fields that few people need."""

    BASIC: tuple[str, ...] = ()

    def basic(self) -> list[forms.BoundField]:
        """The fields that are always visible."""
        return [field for field in self._bound() if field.name in self.BASIC]

    def more(self) -> list[forms.BoundField]:
        """The fields behind "more"."""
        return [field for field in self._bound() if field.name not in self.BASIC]

    def more_open(self) -> bool:
        """Whether a field behind "more" has an error, so that it must be visible."""
        return any(field.errors for field in self.more())

    def _bound(self) -> list[forms.BoundField]:
        return list(self)  # type: ignore[call-overload, no-any-return]  # a form by its other base


class ProviderForm(_Grouped, forms.ModelForm):  # type: ignore[type-arg]  # generic only in the stubs
    """One OpenAI-compatible endpoint or Azure resource."""

    BASIC = ("name", "kind", "base_url", "api_version", "api_key_env", "max_concurrency")

    kind = forms.ChoiceField(
        label="Kind",
        choices=[(kind.value, kind.label) for kind in (Provider.Kind.OPENAI, Provider.Kind.AZURE)],
        required=False,
    )
    base_url = forms.CharField(
        label="Base URL",
        max_length=500,
        help_text="The address before /chat/completions, such as http://127.0.0.1:8080/v1; for "
        "Azure, https://RESOURCE.openai.azure.com.",
    )

    class Meta:
        model = Provider
        fields = [
            "name",
            "kind",
            "base_url",
            "api_version",
            "api_key_env",
            "max_concurrency",
            "rpm",
            "tpm",
            "rpd",
            "tpd",
            "connect_timeout",
            "read_timeout",
            "headers",
        ]
        widgets = {"headers": forms.Textarea(attrs={"rows": 3})}
        labels = {
            "api_version": "API version",
            "api_key_env": "Environment variable of the key",
            "connect_timeout": "Connection time-out (seconds)",
            "read_timeout": "Response time-out (seconds)",
            "max_concurrency": "Maximum concurrent calls",
            "rpm": "Requests per minute",
            "tpm": "Tokens per minute",
            "rpd": "Requests per day",
            "tpd": "Tokens per day",
            "headers": "Extra headers",
        }
        help_texts = {
            "api_version": "For Azure only, such as 2024-10-21. Name models by their deployments.",
            "api_key_env": "The variable's name, not the key: LABELHUB_LLM_…, …_API_KEY, or "
            "one that LABELHUB_LLM_KEY_VARIABLES lists. Empty: the endpoint needs no key.",
            "max_concurrency": "LabelHub sends fewer while the endpoint reports too many requests.",
            "rpm": "Empty: the limit that the endpoint reports, if any.",
            "tpm": "Empty: the limit that the endpoint reports, if any.",
            "rpd": "Days end at midnight UTC; a run pauses until then. Empty: no limit.",
            "tpd": "The same for tokens, of input and output together.",
            "headers": "A JSON object of texts, sent with every request. Values are never shown "
            "again: leave the dots to keep one. Do not enter the key here.",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._kept_headers = dict(self.instance.headers or {})
        self.initial["headers"] = masked(self._kept_headers)

    def clean_headers(self) -> dict[str, str]:
        """Keep the values that were masked."""
        given = unmasked(self.cleaned_data["headers"], self._kept_headers)
        kept: dict[str, str] = _checked(check_headers, given)
        return kept

    def clean_kind(self) -> str:
        """The kind may be left out."""
        kind: str = self.cleaned_data["kind"] or self.instance.kind
        return kind

    def clean_name(self) -> str:
        """No slash, which separates provider and model in ``provider/model``."""
        name: str = self.cleaned_data["name"]
        if "/" in name:
            raise ValidationError("Must not contain '/', which separates provider and model.")
        return name

    def clean_base_url(self) -> str:
        """An address that the server may connect to."""
        kept: str = _checked(check_base_url, self.cleaned_data["base_url"])
        return kept

    def clean_api_key_env(self) -> str:
        """The name of a variable, not a key."""
        name: str = self.cleaned_data["api_key_env"].strip()
        _checked(check_key_name, name)
        return name


class ModelForm(_Grouped, forms.ModelForm):  # type: ignore[type-arg]  # generic only in the stubs
    """One model of a provider."""

    BASIC = ("name", "purpose", "price_in", "price_out", "max_output_tokens")

    class Meta:
        model = ModelSpec
        fields = [
            "name",
            "purpose",
            "price_in",
            "price_out",
            "max_output_tokens",
            "price_cached_in",
            "price_reasoning",
            "context_tokens",
            "structured",
            "takes_temperature",
            "fixed_temperature",
            "logprobs",
            "takes_seed",
            "takes_stop",
            "reasoning_effort",
            "max_tokens_param",
            "system_role",
            "extra_body",
        ]
        widgets = {"extra_body": forms.Textarea(attrs={"rows": 3})}
        labels = {
            "purpose": "Used for",
            "price_in": "Price of input",
            "price_out": "Price of output",
            "price_cached_in": "Price of cached input",
            "price_reasoning": "Price of hidden reasoning",
            "context_tokens": "Context (tokens)",
            "max_output_tokens": "Longest answer (tokens)",
            "structured": "Structured answers",
            "takes_temperature": "Accepts a temperature",
            "fixed_temperature": "Fixed temperature",
            "logprobs": "Returns log-probabilities",
            "takes_seed": "Accepts a seed",
            "takes_stop": "Accepts stop sequences",
            "reasoning_effort": "Reasoning effort",
            "max_tokens_param": "Parameter for the longest answer",
            "system_role": "Message role of instructions",
            "extra_body": "Extra body fields",
        }
        help_texts = {
            "price_in": "USD per million tokens; 0 = free, empty = unknown (no budget possible).",
            "price_out": "USD per million tokens; 0 = free, empty = unknown (no budget possible).",
            "structured": "The form that the endpoint can enforce. Without it, answers of small "
            "models are hard to read. The papers used free text.",
            "takes_temperature": "Switched off automatically if the endpoint refuses it.",
            "reasoning_effort": "Empty: the run's value, if any.",
        }


def _checked(check: Any, text: str) -> Any:
    try:
        return check(text)
    except InvalidInput as error:
        raise ValidationError(error.message) from None
