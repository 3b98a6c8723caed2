"""The form of one feature: the fields of its definition, and a template per language."""

from collections.abc import Iterator, Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.authors.forms import LinesField
from apps.authors.services.features import number_or_text
from apps.authors.translations import LANGUAGES
from labelhub.core.errors import InvalidInput
from labelhub.core.interview.features import (
    CHOICE,
    NUMBER,
    WORD,
    YES_NO,
    Feature,
    number_text,
    parse_feature,
)

_BLANK = Feature(key="", name="", definition="")
_ANSWERS = [
    (CHOICE, _("One of a few options")),
    (YES_NO, _("Yes or no")),
    (NUMBER, _("A number, as one of several bands")),
    (WORD, _("One word")),
]
#: Expectations of a site owner as numbers: the ``prior`` of a feature.
_PRIORS = [
    ("", _("Unknown")),
    ("-0.5", _("Not expected to matter")),
    ("0.5", _("Matters")),
    ("1.0", _("Matters much")),
]


class FeatureForm(forms.Form):
    """A feature as people edit it. Its key cannot change, because answers refer to it.

    Args:
        feature: the feature to edit; None for a new one.
        languages: those of the site.
    """

    key = forms.CharField(
        label=_("Key"),
        max_length=40,
        help_text=_(
            "Small letters, digits and underscores, such as when_to_buy. You cannot change "
            "it later."
        ),
    )
    name = forms.CharField(label=_("Name"), max_length=60)
    definition = forms.CharField(
        max_length=500,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=_("What the feature means, for people and models."),
    )
    answer = forms.ChoiceField(
        label=_("Answered by"), choices=_ANSWERS, initial="choice", widget=forms.RadioSelect
    )
    values = LinesField(
        label=_("Values"),
        rows=5,
        required=False,
        help_text=_(
            "One per line, with its meaning after a colon: “soon: next week, in a few days”. "
            "Leave this empty for one word, or if a model may choose the options. Yes, no and "
            "bands need no line."
        ),
    )
    bounds = LinesField(
        label=_("Bounds"),
        rows=2,
        commas=True,
        required=False,
        help_text=_(
            "Ascending numbers, separated by commas. For example, 25, 50, 100 gives the "
            "options “under 25”, “25 to under 50”, “50 to under 100” and “100 or more”."
        ),
    )
    unit = forms.CharField(
        max_length=12, required=False, help_text=_("What the number counts, such as USD or days.")
    )
    ordinal = forms.BooleanField(
        label=_("The values are a scale"),
        required=False,
        help_text=_("The options keep their order and are not shuffled."),
    )
    always = forms.BooleanField(
        label=_("It applies to every message"),
        required=False,
        help_text=_("Authors may be asked about it after any ordinary message, even off topic."),
    )
    applies = forms.CharField(
        label=_("When it applies"),
        max_length=500,
        required=False,
        help_text=_("Instructions for the model, such as “The author plans a purchase.”"),
    )
    cues = LinesField(
        label=_("Words that suggest it"),
        commas=True,
        required=False,
        help_text=_("Separated by commas; used by the text matcher."),
    )
    hint = forms.CharField(
        label=_("How to word a question about it"), max_length=500, required=False
    )
    prior = forms.ChoiceField(
        label=_("Expected benefit"),
        choices=_PRIORS,
        required=False,
        help_text=_(
            "How much knowing this should help to choose recommendations. Echo starts from "
            "this until it has learnt from answers."
        ),
    )

    def __init__(
        self, *args: Any, feature: Feature | None, languages: Sequence[str], **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.feature = feature or _BLANK
        spoken = [
            *languages,
            *(language for language in self.feature.templates if language not in languages),
        ]
        self.languages = [language for language in LANGUAGES if language in spoken]
        for language in self.languages:
            self._add_words(language)
        if feature is not None:
            del self.fields["key"]
            self.initial = _initial_of(feature)
            self._add_prior(feature.prior)

    def words(self) -> Iterator[tuple[str, forms.BoundField, forms.BoundField]]:
        """Language, question and options of each block."""
        for language in self.languages:
            yield LANGUAGES[language], self[f"question_{language}"], self[f"options_{language}"]

    def plain(self) -> list[forms.BoundField]:
        return [field for field in self if not field.name.startswith(("question_", "options_"))]

    def definition_read(self) -> Feature:
        """The feature as typed.

        Raises:
            InvalidInput: as :func:`parse_feature`, with field names of this form.
        """
        data = self.cleaned_data
        parted = [line.partition(":") for line in data["values"]]
        values = [value.strip() for value, _, _ in parted]
        meanings = {
            value.strip(): meaning.strip() for value, _, meaning in parted if meaning.strip()
        }
        raw = self.feature.to_json() | {
            name: data[name]
            for name in ("name", "definition", "answer", "ordinal", "always", "applies", "hint")
        }
        raw |= {"key": data.get("key", self.feature.key), "cues": data["cues"]}
        raw |= {"values": values, "meanings": meanings, "templates": self._templates()}
        raw |= self._space() | {"prior": float(data["prior"]) if data["prior"] else None}
        try:
            return parse_feature(raw)
        except InvalidInput as error:
            faults = error.data.get("errors") or [{"field": "", "message": error.message}]
            renamed = [fault | {"field": _field_name(str(fault["field"]))} for fault in faults]
            raise InvalidInput(error.message, data={"errors": renamed}) from None

    def _space(self) -> dict[str, Any]:
        """Fields that only some kinds of answers have; for other kinds they are cleared."""
        data = self.cleaned_data
        space: dict[str, Any] = {"bounds": [], "unit": ""}
        if data["answer"] == NUMBER:
            space = {
                "bounds": [number_or_text(bound) for bound in data["bounds"]],
                "unit": data["unit"],
            }
        derived = {"values": [], "ordinal": False}
        return space | (derived if data["answer"] in (YES_NO, NUMBER) else {})

    def _add_prior(self, prior: float | None) -> None:
        """Keep a prior that was set over REST, although the form does not offer it."""
        field = self.fields["prior"]
        if isinstance(field, forms.ChoiceField) and prior is not None:
            self.initial["prior"] = str(prior)
            if str(prior) not in dict(_PRIORS):
                field.choices = [
                    *_PRIORS,
                    (str(prior), gettext("%(prior)s, as set before") % {"prior": f"{prior:g}"}),
                ]

    def _templates(self) -> dict[str, Any]:
        """The templates that are not empty; those in other languages are kept."""
        made: dict[str, Any] = {}
        for language in self.languages:
            question = self.cleaned_data[f"question_{language}"]
            parted = (line.partition("=") for line in self.cleaned_data[f"options_{language}"])
            options = {value.strip(): words.strip() for value, _, words in parted}
            if question or options:
                made[language] = {"question": question, "options": options}
        return made

    def _add_words(self, language: str) -> None:
        direction = {"lang": language, "dir": "auto"}
        self.fields[f"question_{language}"] = forms.CharField(
            label=gettext("Question, %(language)s") % {"language": LANGUAGES[language]},
            max_length=140,
            required=False,
            widget=forms.TextInput(attrs=direction),
        )
        options = LinesField(
            label=gettext("Options, %(language)s") % {"language": LANGUAGES[language]},
            rows=4,
            required=False,
        )
        options.widget.attrs |= direction
        options.help_text = _(
            "One per line: value = words, such as “soon = Fairly soon”. For yes or no and for "
            "numbers, leave this empty to use the standard words."
        )
        self.fields[f"options_{language}"] = options


def _initial_of(feature: Feature) -> dict[str, Any]:
    initial = feature.to_json()
    initial["values"] = [
        f"{value}: {feature.meanings[value]}" if feature.meanings.get(value) else value
        for value in feature.values
        if feature.answer == CHOICE or feature.meanings.get(value)
    ]
    initial["bounds"] = ", ".join(map(number_text, feature.bounds))
    initial["cues"] = ", ".join(feature.cues)
    for language, template in initial["templates"].items():
        initial[f"question_{language}"] = template["question"]
        initial[f"options_{language}"] = [
            f"{value} = {words}" for value, words in template["options"].items()
        ]
    return initial


def _field_name(field: str) -> str:
    parts = [part.strip() for part in field.split(",")]
    if parts[0] != "templates":
        return {"meanings": "values"}.get(parts[0], parts[0])
    if len(parts) == 1:
        return ""
    kind = "options" if "options" in parts else "question"
    return f"{kind}_{parts[1]}"


class FeatureFileForm(forms.Form):
    file = forms.FileField(
        widget=forms.ClearableFileInput(attrs={"accept": ".csv,.tsv,.json,text/csv"}),
        error_messages={"empty": _("The file is empty.")},
        help_text=_("A CSV table with a header row, or a JSON list of definitions; at most 4 MB."),
    )
