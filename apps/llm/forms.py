"""The forms of providers and models, for operators and for managers of projects."""

from functools import partial
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.llm.addresses import check_base_url
from apps.llm.extras import MASK, check_headers, masked, unmasked
from apps.llm.models import ModelSpec, Provider
from apps.llm.presets import OTHER, Preset, preset_of, presets
from apps.llm.services import LONGEST_KEY, check_key, check_key_name
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


STORED = _("Stored encrypted and never shown again.")
KEY_HELP = {
    Provider.KeyState.STORED: _("A key is stored. Leave this empty to keep it."),
    Provider.KeyState.REMOVED: _("The key was removed. A new one is stored encrypted."),
}
PRICE_HELP = _("USD per million tokens; 0 = free, empty = unknown (no budget possible).")
REFUSED = _("Switched off automatically if the endpoint refuses it.")
PASTE = _("Paste the key: this provider answers nobody without one.")


class NewModelForm(_Grouped, forms.ModelForm):  # type: ignore[type-arg]  # generic only in the stubs
    """A model to add to a provider; all empty: none."""

    BASIC = ("name",)

    class Meta:
        model = ModelSpec
        fields = ["name", "price_in", "price_out"]
        labels = {"price_in": _("Price of input"), "price_out": _("Price of output")}
        help_texts = {"price_in": PRICE_HELP, "price_out": PRICE_HELP}
        widgets = {"name": forms.TextInput(attrs={"list": "offered-models", "autocomplete": "off"})}

    def __init__(self, data: Any, *, provider: Provider) -> None:
        super().__init__(data, prefix="model", empty_permitted=True, use_required_attribute=False)
        name, preset = self.fields["name"], preset_of(provider)
        name.label = gettext("Add a model") if provider.pk else gettext("Model")
        name.help_text = gettext("Such as %(name)s.") % {"name": preset.example}
        if preset.lists:
            name.help_text = gettext("Test offers the names that the provider lists.")

    def models(self) -> list[dict[str, Any]]:
        """The fields of the new model, if there is one."""
        given = {name: value for name, value in self.cleaned_data.items() if value is not None}
        return [given] if self.has_changed() else []


class ProviderForm(_Grouped, forms.ModelForm):  # type: ignore[type-arg]  # generic only in the stubs
    """One OpenAI-compatible endpoint or Azure resource. ``preset`` fills in what its kind needs."""

    BASIC = ("name", "base_url", "api_version", "key")
    field_order = ("name", "preset", "base_url", "api_version", "key", "api_key_env")

    preset = forms.ChoiceField(
        label=_("Kind"),
        choices=lambda: [(preset.name, preset.title) for preset in presets().values()],
        required=False,
    )
    base_url = forms.CharField(
        label=_("Base URL"),
        max_length=500,
        help_text=_("The address before /chat/completions, mostly ending in /v1."),
    )
    key = forms.CharField(
        label=_("Key"),
        required=False,
        max_length=LONGEST_KEY,
        widget=forms.PasswordInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
        error_messages={"required": PASTE},
    )

    class Meta:
        model = Provider
        fields = [
            "name",
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
            "name": _("Name"),
            "api_version": _("API version"),
            "api_key_env": _("Or the environment variable of the key"),
            "connect_timeout": _("Connection time-out (seconds)"),
            "read_timeout": _("Response time-out (seconds)"),
            "max_concurrency": _("Maximum concurrent calls"),
            "rpm": _("Requests per minute"),
            "tpm": _("Tokens per minute"),
            "rpd": _("Requests per day"),
            "tpd": _("Tokens per day"),
            "headers": _("Extra headers"),
        }
        help_texts = {
            "connect_timeout": "",
            "read_timeout": "",
            "api_version": _("Such as 2024-10-21. Name models by their deployments."),
            "api_key_env": _(
                "The variable's name, not the key: LABELHUB_LLM_…, …_API_KEY, or "
                "one that LABELHUB_LLM_KEY_VARIABLES lists."
            ),
            "max_concurrency": _(
                "LabelHub sends fewer while the endpoint reports too many requests."
            ),
            "rpm": _("Empty: the limit that the endpoint reports, if any."),
            "tpm": _("Empty: the limit that the endpoint reports, if any."),
            "rpd": _("Days end at midnight UTC; a run pauses until then. Empty: no limit."),
            "tpd": _("The same for tokens, of input and output together."),
            "headers": _(
                "A JSON object of texts, sent with every request. Values are never shown "
                "again: leave the dots to keep one. Do not enter the key here."
            ),
        }

    def __init__(self, *args: Any, preset: Preset | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._kept_headers, self._kept_url = dict(self.instance.headers), self.instance.base_url
        self.initial["headers"] = masked(self._kept_headers)
        #: Not ``preset``, which templates would take for the field.
        self.chosen = preset or preset_of(self.instance)
        self.fields["key"].help_text = KEY_HELP.get(self.instance.key_state, "") or (
            STORED
            if self.chosen.key == "required"
            else gettext("Stored encrypted and never shown again. Empty: your server needs none.")
        )
        if self.instance.pk is None:
            named = "" if self.chosen.name == OTHER else self.chosen.title
            self.initial.update(
                preset=self.chosen.name,
                name=named,
                base_url=self.chosen.base_url,
                api_version=self.chosen.api_version,
            )
        else:
            self.initial["preset"] = self.chosen.name
        if self.instance.project_id is not None:
            self.fields["api_key_env"].disabled = True
            self.fields["key"].required = self.chosen.key == "required" and not self.instance.pk

    def basic(self) -> list[forms.BoundField]:
        """Without what the kind does not need."""
        unused = {"key"} if self.chosen.key == "none" else set()
        unused |= set() if self.chosen.api_version else {"api_version"}
        return [field for field in super().basic() if field.name not in unused]

    def more(self) -> list[forms.BoundField]:
        """Without the kind, which is chosen before, and what a project may not set."""
        return [
            field for field in super().more() if field.name != "preset" and not field.field.disabled
        ]

    def clean_headers(self) -> dict[str, str]:
        """Keep the values that were masked, for the address that they were entered for."""
        moved = self.cleaned_data.get("base_url", self._kept_url) != self._kept_url
        given = unmasked(self.cleaned_data["headers"], {} if moved else self._kept_headers)
        if isinstance(given, dict) and MASK in given.values():
            raise ValidationError(_("Enter the values again: they are only sent to their server."))
        kept: dict[str, str] = _checked(check_headers, given)
        return kept

    def clean_preset(self) -> str:
        """The kind may be left out, and decides the protocol."""
        chosen = presets()[self.cleaned_data["preset"] or self.chosen.name]
        self.instance.preset, self.instance.kind = chosen.name, chosen.kind
        self.chosen = chosen
        return chosen.name

    def clean(self) -> dict[str, Any]:
        """A new provider whose kind needs a key has one, or a variable."""
        cleaned = super().clean() or {}
        has_key = cleaned.get("key") or cleaned.get("api_key_env") or self.instance.pk
        wrong = self.errors.keys() & {"key", "api_key_env"}
        if self.chosen.key == "required" and not has_key and not wrong:
            self.add_error("key", PASTE)
        return cleaned

    def clean_name(self) -> str:
        """No slash, which separates provider and model in ``provider/model``."""
        name: str = self.cleaned_data["name"]
        if "/" in name:
            raise ValidationError(_("Must not contain '/', which separates provider and model."))
        return name

    def clean_base_url(self) -> str:
        """An address that the server may connect to."""
        check = partial(check_base_url, private=self.instance.private_allowed)
        kept: str = _checked(check, self.cleaned_data["base_url"])
        return kept

    def clean_key(self) -> str:
        """Something that can be sent as a key."""
        key: str = self.cleaned_data["key"]
        return str(_checked(check_key, key)) if key else ""

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
            "name": _("Name"),
            "purpose": _("Used for"),
            "price_in": _("Price of input"),
            "price_out": _("Price of output"),
            "price_cached_in": _("Price of cached input"),
            "price_reasoning": _("Price of hidden reasoning"),
            "context_tokens": _("Context (tokens)"),
            "max_output_tokens": _("Longest answer (tokens)"),
            "structured": _("Structured answers"),
            "takes_temperature": _("Accepts a temperature"),
            "fixed_temperature": _("Fixed temperature"),
            "logprobs": _("Returns log-probabilities"),
            "takes_seed": _("Accepts a seed"),
            "takes_stop": _("Accepts stop sequences"),
            "reasoning_effort": _("Reasoning effort"),
            "max_tokens_param": _("Parameter for the longest answer"),
            "system_role": _("Message role of instructions"),
            "extra_body": _("Extra body fields"),
        }
        help_texts = {
            "price_in": PRICE_HELP,
            "price_out": PRICE_HELP,
            "name": _("As the provider spells it."),
            "price_cached_in": _("Empty: as other input."),
            "price_reasoning": _("Empty: as other output."),
            "context_tokens": _("Input and answer together. Empty: unknown."),
            "fixed_temperature": _("Sent in place of any other."),
            "logprobs": REFUSED,
            "extra_body": _("A JSON object, sent with every request."),
            "structured": _(
                "The form that the endpoint can enforce. Without it, answers of small "
                "models are hard to read. The papers used free text."
            ),
            "takes_temperature": REFUSED,
            "reasoning_effort": _("Empty: the run's value, if any."),
        }


def _checked(check: Any, text: str) -> Any:
    try:
        return check(text)
    except InvalidInput as error:
        faults = error.data.get("errors")
        raise ValidationError(faults[0]["message"] if faults else error.message) from None
