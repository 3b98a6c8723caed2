"""The forms that set an experiment up, and that put an arm of one to use."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.common.figures import nanousd
from apps.debates.forms import (
    RunForm,
    dollars_field,
    model_words,
    setting_for_task,
    setting_form_field,
)
from apps.debates.services import RunPlan, models_for_roles, with_annotator_count
from apps.llm.models import ModelSpec
from apps.llm.selectors import default_models, list_models
from apps.projects.models import Project
from apps.projects.selectors import current_schema
from labelhub.core.debate import PROTOCOLS, ProtocolInfo, check_task
from labelhub.core.debate.info import InvalidSetting, Setting

USUAL = ("single", "ecj", "self_refine")
ALONE, TOGETHER, BOTH = "alone", "together", "both"
MIXES = (
    (ALONE, _("Each model by itself")),
    (TOGETHER, _("All models together")),
    (BOTH, _("Both ways")),
)


class ExperimentForm(forms.Form):
    """Protocols with their main settings, models, number of items and passes, and budget."""

    title = forms.CharField(
        max_length=100, label=_("Title"), initial=_("Which set-up should we use?")
    )
    mix = forms.ChoiceField(
        choices=MIXES,
        initial=ALONE,
        required=False,
        label=_("Models in protocols with several roles"),
        help_text=_("Protocols with one role always try each model by itself."),
    )
    limit = forms.IntegerField(
        min_value=1,
        max_value=10_000,
        required=False,
        label=_("Verified items"),
        help_text=_("Empty: all. Fewer items are a fixed random sample."),
    )
    replicates = forms.IntegerField(
        min_value=1,
        max_value=20,
        initial=1,
        label=_("Passes for each item"),
        help_text=_(
            "More passes show how much a set-up varies by chance; an item still counts once."
        ),
    )
    budget = dollars_field(
        _("It pauses before it would cost more. Needs known prices."),
        _("Budget for each set-up in USD"),
        required=False,
    )
    equal_budget = forms.BooleanField(
        initial=True,
        required=False,
        label=_("Compare every debate with a vote of equal cost"),
        help_text=_("A debate should beat as many plain answers as it has calls."),
    )

    def __init__(self, project: Project, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._task = current_schema(project).parsed.task
        known = {str(model.pk): model for model in list_models(project)}
        self.fields["models"] = forms.TypedMultipleChoiceField(
            choices=[(pk, model_words(model)) for pk, model in known.items()],
            coerce=known.__getitem__,
            initial=[str(model.pk) for model in default_models(project)],
            label=_("Models"),
            widget=forms.CheckboxSelectMultiple,
        )
        self.several_models = len(known) > 1
        for info in PROTOCOLS.values():
            self.fields[f"arm_{info.name}"] = forms.BooleanField(
                required=False, label=gettext(info.title), initial=info.name in USUAL
            )
            for setting in self._settings(info):
                self.fields[field_name(info, setting)] = _setting_field(setting)

    def protocols(self) -> Iterator[dict[str, Any]]:
        """Each protocol for its card: its box, its settings, the reason why it is not offered."""
        for info in PROTOCOLS.values():
            settings = [self[field_name(info, setting)] for setting in self._settings(info)]
            calls = info.calls(info.read_settings({}))
            refusal = "" if self._answers(info) else gettext(info.not_for)
            yield {
                "info": info,
                "box": self[f"arm_{info.name}"],
                "settings": settings,
                "calls": calls,
                "refusal": refusal,
            }

    def clean(self) -> dict[str, Any]:
        """At least one protocol; settings are checked by the protocol that has them."""
        cleaned = super().clean() or {}
        chosen = [info for info in PROTOCOLS.values() if cleaned.get(f"arm_{info.name}")]
        if not chosen:
            raise forms.ValidationError(gettext("Choose at least one way to label."))
        for info in chosen:
            for setting in self._settings(info):
                name = field_name(info, setting)
                given = cleaned.get(name)
                if setting.compared:
                    cleaned[name] = given or [setting.default]
                    continue
                try:
                    cleaned[name] = setting.read(setting.default if given in (None, "") else given)
                except InvalidSetting as error:
                    self.add_error(name, error.message)
        return cleaned

    def arms(self) -> list[RunPlan]:
        """A plan for each protocol and model, or mix of models; only after ``is_valid()``.

        Raises:
            InvalidInput: a protocol cannot answer the project's question.
        """
        chosen = [info for info in PROTOCOLS.values() if self.cleaned_data[f"arm_{info.name}"]]
        return [
            plan
            for info in chosen
            for given in self._given(info)
            for plan in self._arms_of(info, given)
        ]

    def _given(self, info: ProtocolInfo) -> Iterator[dict[str, Any]]:
        settings = self._settings(info)
        read = {setting.name: self.cleaned_data[field_name(info, setting)] for setting in settings}
        compared = [setting.name for setting in settings if setting.compared]
        for values in product(*(read[name] for name in compared)):
            yield read | dict(zip(compared, values, strict=True))

    def _arms_of(self, info: ProtocolInfo, given: Mapping[str, Any]) -> Iterator[RunPlan]:
        settings = info.read_settings(given)
        check_task(info, settings, self._task)
        models = list(dict.fromkeys(self.cleaned_data["models"]))
        mixable = len(models) > 1 and len(info.roles(settings)) > 1
        mix = (self.cleaned_data["mix"] or ALONE) if mixable else ALONE
        if mix in (ALONE, BOTH):
            for model in models:
                yield self._plan(info, settings, models_for_roles(info.name, {}, [model], settings))
        if mix in (TOGETHER, BOTH):
            seated = info.read_settings(
                with_annotator_count(
                    info.name,
                    models,
                    {name: value for name, value in given.items() if name != "annotators"},
                )
            )
            yield self._plan(info, seated, mixed(info, models, seated))

    def _plan(
        self, info: ProtocolInfo, settings: Mapping[str, Any], models: Mapping[str, ModelSpec]
    ) -> RunPlan:
        fields = self.cleaned_data
        return RunPlan(
            protocol=info.name,
            models=models,
            settings=settings,
            limit=fields["limit"],
            replicates=fields["replicates"],
            budget_nanousd=nanousd(fields["budget"]),
        )

    def _answers(self, info: ProtocolInfo) -> bool:
        return info.stages is not None or info.answers(self._task)

    def _settings(self, info: ProtocolInfo) -> list[Setting]:
        """The settings of a protocol that can be chosen here."""
        return [setting_for_task(setting, self._task) for setting in info.settings if setting.main]


class UseForm(forms.Form):
    limit = RunForm.base_fields["limit"]
    budget = RunForm.base_fields["budget"]
    only_unlabelled = forms.BooleanField(
        required=False,
        label=_("Only items without any label"),
        help_text=_("Otherwise its suggestions replace those of earlier runs."),
    )

    def narrowed(self, plan: RunPlan) -> RunPlan:
        """The plan within these bounds; only after ``is_valid()``."""
        fields = self.cleaned_data
        return replace(
            plan,
            limit=fields["limit"],
            only_unlabelled=fields["only_unlabelled"],
            budget_nanousd=nanousd(fields["budget"]),
        )


def mixed(
    info: ProtocolInfo, models: Sequence[ModelSpec], settings: Mapping[str, Any]
) -> dict[str, ModelSpec]:
    """The models in turn, role after role."""
    roles = info.roles(settings)
    return {role: models[place % len(models)] for place, role in enumerate(roles)}


def field_name(info: ProtocolInfo, setting: Setting) -> str:
    """``set_discussion_rounds``."""
    return f"set_{info.name}_{setting.name}"


def _setting_field(setting: Setting) -> forms.Field:
    """Never required: empty means the default."""
    if setting.compared:
        return forms.MultipleChoiceField(
            choices=[(choice, str(choice)) for choice in setting.choices],
            initial=setting.compared,
            label=gettext(setting.title),
            help_text=gettext(setting.help) if setting.help else "",
            widget=forms.CheckboxSelectMultiple,
            required=False,
        )
    field = setting_form_field(setting)
    field.required = False
    return field
