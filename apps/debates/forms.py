"""The form that plans a run."""

from collections.abc import Iterator
from typing import Any

from django import forms

from apps.debates.services import RunPlan, models_for_roles
from apps.llm.models import ModelSpec
from apps.llm.selectors import default_model, list_models
from labelhub.core.debate import PROTOCOLS, ProtocolInfo

ROLES = tuple(dict.fromkeys(role for info in PROTOCOLS.values() for role in info.roles))


class ModelField(forms.ModelChoiceField):  # type: ignore[type-arg]  # generic only in the stubs
    """A choice of models by name and provider."""

    def label_from_instance(self, obj: ModelSpec) -> str:
        """The offline model's provider says that it is no LLM."""
        return f"{obj.name} · {obj.provider.name}"


class RunForm(forms.Form):
    """Protocol, a model per role, how many items. Only the chosen protocol's roles count."""

    protocol = forms.ChoiceField(
        choices=[(info.name, info.title) for info in PROTOCOLS.values()],
        initial="ecj",
        widget=forms.RadioSelect,
    )
    limit = forms.IntegerField(
        min_value=1, required=False, label="How many items", help_text="Empty: all of them."
    )
    only_unlabelled = forms.BooleanField(
        required=False, label="Only items that have no label at all yet"
    )
    replicates = forms.IntegerField(
        min_value=1, max_value=20, initial=1, help_text="How often each item passes through."
    )
    budget = forms.DecimalField(
        min_value=0,
        max_digits=12,
        decimal_places=6,
        required=False,
        label="Budget in USD",
        help_text="The run pauses before it would cost more. Needs known prices.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        models = list_models()
        for role in ROLES:
            self.fields[_field(role)] = ModelField(
                models,
                required=False,
                empty_label=None,
                label=role.capitalize(),
                initial=default_model(),
            )

    def protocols(self) -> Iterator[dict[str, Any]]:
        """Each protocol with whether it is the chosen one, for its card."""
        chosen = self["protocol"].value()
        for info in PROTOCOLS.values():
            yield {"info": info, "checked": info.name == chosen, "roles": " ".join(info.roles)}

    def role_fields(self) -> Iterator[dict[str, Any]]:
        """The model of each role, and the protocols it is for."""
        for role in ROLES:
            used = [info.name for info in PROTOCOLS.values() if role in info.roles]
            yield {"role": role, "field": self[_field(role)], "protocols": " ".join(used)}

    def plan(self) -> RunPlan:
        """The plan; only after ``is_valid()``."""
        fields = self.cleaned_data
        info: ProtocolInfo = PROTOCOLS[fields["protocol"]]
        given: dict[str, ModelSpec] = {
            role: fields[_field(role)] for role in info.roles if fields[_field(role)]
        }
        budget = fields["budget"]
        return RunPlan(
            protocol=info.name,
            models=models_for_roles(info.name, given, default_model()),
            limit=fields["limit"],
            only_unlabelled=fields["only_unlabelled"],
            replicates=fields["replicates"],
            budget_nanousd=None if budget is None else int(budget * 10**9),
        )


def _field(role: str) -> str:
    return f"model_{role}"
