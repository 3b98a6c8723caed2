"""Forms for operators. A key is asked for by the name of its variable, never by its value."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from apps.llm.addresses import check_base_url
from apps.llm.models import ModelSpec, Provider
from apps.llm.services import check_key_name
from labelhub.core.errors import InvalidInput


class ProviderForm(forms.ModelForm):  # type: ignore[type-arg]  # generic only in the stubs
    """One OpenAI-compatible endpoint."""

    base_url = forms.CharField(
        label="Base URL",
        max_length=500,
        help_text="Where /chat/completions is found, such as http://127.0.0.1:8080/v1.",
    )

    class Meta:
        model = Provider
        fields = [
            "name",
            "base_url",
            "api_key_env",
            "connect_timeout",
            "read_timeout",
            "max_concurrency",
        ]
        labels = {
            "api_key_env": "Environment variable of the key",
            "connect_timeout": "Time to connect",
            "read_timeout": "Time to answer",
            "max_concurrency": "Calls at once, at most",
        }
        help_texts = {
            "api_key_env": "The variable's name, not the key: LABELHUB_LLM_…, …_API_KEY, or "
            "one that LABELHUB_LLM_KEY_VARIABLES lists. Empty: the endpoint needs no key.",
            "max_concurrency": "Fewer are sent while the endpoint says it has too many.",
        }

    def clean_name(self) -> str:
        """No slash: it parts provider and model in ``provider/model``."""
        name: str = self.cleaned_data["name"]
        if "/" in name:
            raise ValidationError("Must not contain '/', which parts provider and model.")
        return name

    def clean_base_url(self) -> str:
        """An address the server may talk to."""
        kept: str = _checked(check_base_url, self.cleaned_data["base_url"])
        return kept

    def clean_api_key_env(self) -> str:
        """The name of a variable, not a key."""
        name: str = self.cleaned_data["api_key_env"].strip()
        _checked(check_key_name, name)
        return name


class ModelForm(forms.ModelForm):  # type: ignore[type-arg]  # generic only in the stubs
    """One model of a provider."""

    class Meta:
        model = ModelSpec
        fields = [
            "name",
            "price_in",
            "price_out",
            "max_output_tokens",
            "takes_temperature",
            "max_tokens_param",
            "system_role",
        ]
        labels = {
            "price_in": "Price of input",
            "price_out": "Price of output",
            "max_output_tokens": "Longest answer (tokens)",
            "takes_temperature": "Takes a temperature",
            "max_tokens_param": "Parameter for the longest answer",
            "system_role": "Role of instructions",
        }
        help_texts = {
            "price_in": "USD per million tokens; 0 = free, empty = unknown (no budget possible).",
            "price_out": "USD per million tokens; 0 = free, empty = unknown (no budget possible).",
        }


def _checked(check: Any, text: str) -> Any:
    try:
        return check(text)
    except InvalidInput as error:
        raise ValidationError(error.message) from None
