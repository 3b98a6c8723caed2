"""The forms that plan a run and raise its budget."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django_stubs_ext import StrOrPromise

from apps.common.figures import localise, nanousd
from apps.debates.models import PromptVariant
from apps.debates.naming import role_name, role_words, setting_words
from apps.debates.services import RunPlan, models_for_roles
from apps.debates.services.prompts import Version, protocol_of, trial_roles
from apps.llm.models import ModelSpec
from apps.llm.selectors import default_models, list_models
from apps.projects.models import Project
from labelhub.core.debate import LABELLING, PROTOCOLS, CallCount, ProtocolInfo
from labelhub.core.debate.info import Group, InvalidSetting, Setting
from labelhub.core.prompts import MOST_BODY
from labelhub.core.schema import LabelType

#: More than any project has, within the range of database integers.
MOST_ITEMS = 10**9


def dollars_field(
    words: StrOrPromise, label: StrOrPromise, *, required: bool
) -> forms.DecimalField:
    """An amount in USD."""
    return forms.DecimalField(
        min_value=0,
        max_digits=12,
        decimal_places=6,
        required=required,
        label=label,
        help_text=words,
    )


def setting_for_task(setting: Setting, task: LabelType) -> Setting:
    """The setting without the protocols that cannot answer the question."""
    choices = tuple(
        choice
        for choice in setting.choices
        if choice not in PROTOCOLS or PROTOCOLS[choice].answers(task)
    )
    if choices == setting.choices:
        return setting
    usual = setting.default if setting.default in choices else choices[0]
    return replace(setting, choices=choices, default=usual)


def model_words(model: ModelSpec) -> str:
    """The name of a model in menus."""
    return model.full_title


def setting_form_field(setting: Setting) -> forms.Field:
    """The field of a protocol's setting."""
    limits = {"low": localise(f"{setting.low:g}"), "high": localise(f"{setting.high:g}")}
    choices = [(choice, setting_words(choice)) for choice in setting.choices]
    if choices:
        wrong = gettext("Give one of %(choices)s.") % {
            "choices": ", ".join(words for _choice, words in choices)
        }
    elif isinstance(setting.default, float):
        wrong = gettext("Give a number from %(low)s to %(high)s.") % limits
    else:
        wrong = gettext("Give a whole number from %(low)s to %(high)s.") % limits
    codes = ("required", "invalid", "invalid_choice", "min_value", "max_value")
    about: dict[str, Any] = {
        "initial": setting.default,
        "label": gettext(setting.title),
        "help_text": gettext(setting.help),
        "error_messages": dict.fromkeys(codes, wrong),
    }
    if choices:
        return forms.TypedChoiceField(choices=choices, coerce=type(setting.default), **about)
    if isinstance(setting.default, float):
        return forms.FloatField(min_value=setting.low, max_value=setting.high, **about)
    return forms.IntegerField(min_value=int(setting.low), max_value=int(setting.high), **about)


def prompt_field(name: str, variants: Iterable[PromptVariant]) -> forms.ChoiceField:
    """The choice between the present text of the prompt ``name`` and its ``variants``."""
    protocol, _, role = name.partition("/")
    return forms.ChoiceField(
        choices=[
            ("", gettext("Present text")),
            *((variant.version.hash, variant.title) for variant in variants),
        ],
        required=False,
        label=f"{gettext(PROTOCOLS[protocol].title)}: {role_name(role)}",
    )


USUAL_PROTOCOL = "ecj"


@dataclass(frozen=True, slots=True)
class Card:
    """A protocol to choose; ``not_for``: why it cannot answer the question, or ""."""

    info: ProtocolInfo
    checked: bool
    calls: CallCount
    not_for: str


@dataclass(slots=True)
class StageFields:
    """The fields for one stage of a protocol; most protocols have one stage."""

    title: str = ""
    settings: list[forms.BoundField] = field(default_factory=list)
    models: list[forms.BoundField] = field(default_factory=list)


class RunForm(forms.Form):
    """Protocol, its settings, a model per role, and the number of items.

    Settings and roles belong to the protocol in the data, or to the default protocol; the page
    requests the form again when the protocol or a setting changes. Missing data have their default.
    A setting that was shown with its default (``usual_NAME``) and not changed gets the default of
    the present protocol.

    Args:
        task: the label type of the project.
        variants: the project's variants of prompts that are not retired, the newest first.
    """

    protocol = forms.ChoiceField(
        label=_("Protocol"),
        choices=[(info.name, info.title) for info in LABELLING.values()],
        initial=USUAL_PROTOCOL,
        widget=forms.RadioSelect,
    )
    limit = forms.IntegerField(
        min_value=1,
        max_value=MOST_ITEMS,
        required=False,
        label=_("How many items"),
        help_text=_("Empty: all of them."),
    )
    replicates = forms.IntegerField(
        label=_("Passes per item"),
        min_value=1,
        max_value=20,
        initial=1,
        help_text=_("How often each item is debated."),
    )
    budget = dollars_field(
        _("The run pauses before it exceeds the budget. All prices must be known."),
        _("Budget in USD"),
        required=False,
    )
    only_unlabelled = forms.BooleanField(required=False, label=_("Only items without any label"))
    reuse_answers = forms.BooleanField(
        required=False,
        initial=True,
        label=_("Reuse answers of earlier runs"),
        help_text=_(
            "Calls with the same model, prompt, text and settings cost nothing. Switch this "
            "off to measure how much answers vary between runs."
        ),
    )

    def __init__(
        self,
        data: Mapping[str, Any] | None = None,
        *,
        task: LabelType,
        project: Project | None = None,
        variants: Iterable[PromptVariant] = (),
        **kwargs: Any,
    ) -> None:
        super().__init__(data.copy() if data else None, **kwargs)  # type: ignore[attr-defined]  # a QueryDict or dict
        #: The data, with defaults for the fields that the protocol adds.
        self._filled: Any = self.data
        self.task = task
        self._project = project
        self.info: ProtocolInfo = LABELLING.get(self._said("protocol"), LABELLING[USUAL_PROTOCOL])
        self._settings = self._add_settings()
        self._chosen = self._readable(self._settings)
        self._stages = self.info.stages(self._chosen) if self.info.stages else {}
        self._roles = self.info.roles(self._chosen)
        self._add_models()
        self._prompts = self._add_prompts(variants)

    def groups(self) -> Iterator[tuple[str, list[Card]]]:
        """The protocols to choose from, by group."""
        for group in Group:
            yield (
                gettext(group),
                [self._card(info) for info in LABELLING.values() if info.group is group],
            )

    def stages(self) -> list[StageFields]:
        """The fields of settings and models of the chosen protocol, stage by stage."""
        titles = {setting.name: setting.title for setting in self._settings}
        found = {"": StageFields()}
        for stage, info in self._stages.items():
            found[stage] = StageFields(f"{gettext(titles[stage])}: {gettext(info.title)}")
        for setting in self._settings:
            stage, dot, _ = setting.name.partition(".")
            found[stage if dot else ""].settings.append(self[_setting_field(setting)])
        for role in self._roles:
            found[self._stage_of(role)].models.append(self[_model_field(role)])
        return list(found.values())

    def prompts(self) -> list[forms.BoundField]:
        """The choice of a version for each prompt with variants."""
        return [self[_prompt_field(name)] for name in self._prompts]

    @property
    def calls(self) -> CallCount:
        """The calls per item with the present settings."""
        return self.info.calls(self._chosen)

    @property
    def shape(self) -> str:
        """A hash of the fields that the protocol adds and of their errors."""
        own = [name for name in self.fields if name.startswith(("set_", "model_", "prompt_"))]
        wrong = [self.errors[name].as_json() for name in own if name in self.errors]
        stages = [info.name for info in self._stages.values()]
        words = "\n".join([self.info.name, *stages, *own, *wrong])
        return hashlib.sha256(words.encode("utf-8", "replace")).hexdigest()[:16]

    def clean_protocol(self) -> str:
        """Not every protocol can answer every question."""
        name = str(self.cleaned_data["protocol"])
        refused = _why_unsuitable(PROTOCOLS[name], self.task)
        if refused:
            raise forms.ValidationError(refused)
        return name

    def plan(self) -> RunPlan:
        """The plan; only after ``is_valid()``."""
        fields = self.cleaned_data
        return RunPlan(
            protocol=self.info.name,
            models={role: fields[_model_field(role)] for role in self._roles},
            settings={setting.name: fields[_setting_field(setting)] for setting in self._settings},
            limit=fields["limit"],
            only_unlabelled=fields["only_unlabelled"],
            replicates=fields["replicates"],
            budget_nanousd=nanousd(fields["budget"]),
            reuse_answers=fields["reuse_answers"],
            prompts={
                name: variants[chosen].version
                for name, variants in self._prompts.items()
                if (chosen := fields[_prompt_field(name)])
            },
        )

    def _card(self, info: ProtocolInfo) -> Card:
        return Card(
            info,
            info is self.info,
            info.calls(info.read_settings({})),
            _why_unsuitable(info, self.task),
        )

    def _said(self, name: str) -> str:
        """The unchecked value of a field."""
        return str(self.data.get(name) or self.initial.get(name) or "")

    def _add_settings(self) -> tuple[Setting, ...]:
        own = [setting_for_task(setting, self.task) for setting in self.info.settings]
        more = self.info.known_settings(self._readable(own))[len(own) :]
        known = (*own, *more)
        for setting in known:
            name = _setting_field(setting)
            self.fields[name] = setting_form_field(setting)
            if self.is_bound:
                self._filled[name] = self._raw(setting)
        return known

    def _raw(self, setting: Setting) -> Any:
        """The value of a setting in the data; its default if it was not changed."""
        name = _setting_field(setting)
        given = self.data.get(name)
        untouched = given is None or given == self.data.get(f"usual_{name}")
        return setting.default if untouched else given

    def _readable(self, settings: Any) -> dict[str, Any]:
        """The settings in the data, with defaults for unreadable ones."""
        found = {}
        for setting in settings:
            try:
                found[setting.name] = setting.read(self._raw(setting))
            except InvalidSetting:
                found[setting.name] = setting.default
        return found

    def _add_models(self) -> None:
        models = {str(model.pk): model for model in list_models(self._project)}
        usual = models_for_roles(self.info.name, {}, default_models(self._project), self._chosen)
        for role in self._roles:
            name, pk = _model_field(role), str(usual[role].pk)
            self.fields[name] = forms.TypedChoiceField(
                choices=[(key, model_words(model)) for key, model in models.items()],
                coerce=models.__getitem__,
                label=role_words(self._in_stage(role)),
                initial=pk,
            )
            if self.is_bound:
                self._filled.setdefault(name, pk)

    def _in_stage(self, role: str) -> str:
        """The name of the role in the protocol of its stage."""
        stage = self._stage_of(role)
        return role.removeprefix(f"{stage}_") if stage else role

    def _stage_of(self, role: str) -> str:
        return next((stage for stage in self._stages if role.startswith(f"{stage}_")), "")

    def _add_prompts(
        self, variants: Iterable[PromptVariant]
    ) -> dict[str, dict[str, PromptVariant]]:
        """Prompt name → hash → variant, for the prompts of the chosen protocol."""
        found: dict[str, dict[str, PromptVariant]] = {}
        names = {part.prompt for part in self.info.parts(self._chosen)}
        for variant in variants:
            if variant.name in names:
                found.setdefault(variant.name, {})[variant.version.hash] = variant
        for name, by_hash in found.items():
            self.fields[_prompt_field(name)] = prompt_field(name, by_hash.values())
        return found


class BudgetForm(forms.Form):
    """The new budget of a run."""

    budget = dollars_field("", _("New budget in USD"), required=True)

    @property
    def nanousd(self) -> int | None:
        """The budget; only after ``is_valid()``."""
        return nanousd(self.cleaned_data["budget"])


def _why_unsuitable(info: ProtocolInfo, task: LabelType) -> str:
    """Why the protocol cannot answer the question; empty if it can."""
    if info.answers(task):
        return ""
    return gettext("Not for this project: %(reason)s") % {"reason": gettext(info.not_for)}


def _setting_field(setting: Setting) -> str:
    return f"set_{setting.name}"


def _model_field(role: str) -> str:
    return f"model_{role}"


def _prompt_field(name: str) -> str:
    return f"prompt_{name}"


_SECTION = {"rows": 22, "spellcheck": "true", "class": "prompt-source", "autocomplete": "off"}


def _section(label: StrOrPromise, words: StrOrPromise, rows: int) -> forms.CharField:
    return forms.CharField(
        label=label,
        max_length=MOST_BODY // 2,
        # Blanks at the ends belong to the prompt.
        strip=False,
        widget=forms.Textarea(attrs={**_SECTION, "rows": rows}),
        help_text=words,
    )


class VariantForm(forms.Form):
    """The two sections of a prompt and the name of the variant."""

    title = forms.CharField(
        max_length=100,
        label=_("Name of the variant"),
        help_text=_("How it differs, such as “shorter, with a counter-example”."),
    )
    system = _section(_("System message"), _("The role of the model and its task."), 22)
    user = _section(_("User message"), _("The text to label and the form of the answer."), 26)

    @classmethod
    def starting_from(cls, version: Version) -> "VariantForm":
        """With the texts of a version."""
        return cls(initial=dict(version.prompt.sections))


class TrialForm(forms.Form):
    """A model for each role of the protocol that tries the variant, with the default models."""

    def __init__(
        self, data: Mapping[str, Any] | None = None, *, variant: PromptVariant, **kwargs: Any
    ) -> None:
        super().__init__(data or None, **kwargs)
        self.info, settings = protocol_of(variant.name)
        name, self._roles = trial_roles(variant)
        models = {str(model.pk): model for model in list_models(variant.project)}
        usual = models_for_roles(name, {}, default_models(variant.project), settings)
        for role in self._roles:
            self.fields[f"model_{role}"] = forms.TypedChoiceField(
                choices=[(pk, model_words(model)) for pk, model in models.items()],
                coerce=models.__getitem__,
                label=role_words(role),
                initial=str(usual[role].pk),
            )

    @property
    def models(self) -> dict[str, ModelSpec]:
        """Role to model; only after ``is_valid()``."""
        return {role: self.cleaned_data[f"model_{role}"] for role in self._roles}
