"""The forms that make a variant of a prompt and choose the models that try it."""

from collections.abc import Mapping
from typing import Any

from django import forms

from apps.debates.form_fields import model_words
from apps.debates.models import PromptVariant
from apps.debates.naming import role_words
from apps.debates.services import models_for_roles
from apps.debates.services.prompts import Version, protocol_of, trial_roles
from apps.llm.models import ModelSpec
from apps.llm.selectors import default_models, list_models
from labelhub.core.prompts import MOST_BODY

_SECTION = {"rows": 22, "spellcheck": "true", "class": "prompt-source", "autocomplete": "off"}


def _section(label: str, words: str, rows: int) -> forms.CharField:
    return forms.CharField(
        label=label,
        max_length=MOST_BODY // 2,
        # What stands at the ends of a prompt is part of it.
        strip=False,
        widget=forms.Textarea(attrs={**_SECTION, "rows": rows}),
        help_text=words,
    )


class VariantForm(forms.Form):
    """The two sections of a prompt, and what to call the variant."""

    title = forms.CharField(
        max_length=100,
        label="Name of the variant",
        help_text="What is different about it, such as “shorter, with a counter-example”.",
    )
    system = _section("System message", "Who the model is and what its task is.", 22)
    user = _section("User message", "The text itself, and the form of the answer.", 26)

    @classmethod
    def starting_from(cls, version: Version) -> "VariantForm":
        """With the texts of a version."""
        return cls(initial=dict(version.prompt.sections))


class TrialForm(forms.Form):
    """A model for each role of the protocol that tries the variant; by default the usual ones."""

    def __init__(
        self, data: Mapping[str, Any] | None = None, *, variant: PromptVariant, **kwargs: Any
    ) -> None:
        super().__init__(data or None, **kwargs)
        self.info, settings = protocol_of(variant.name)
        name, self._roles = trial_roles(variant)
        models = {str(model.pk): model for model in list_models()}
        usual = models_for_roles(name, {}, default_models(), settings)
        for role in self._roles:
            self.fields[f"model_{role}"] = forms.TypedChoiceField(
                choices=[(pk, model_words(each)) for pk, each in models.items()],
                coerce=models.__getitem__,
                label=role_words(role),
                initial=str(usual[role].pk),
            )

    @property
    def models(self) -> dict[str, ModelSpec]:
        """Role to model; only after ``is_valid()``."""
        return {role: self.cleaned_data[f"model_{role}"] for role in self._roles}
