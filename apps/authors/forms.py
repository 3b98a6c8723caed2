"""The forms of a site's pages: new sites, settings, consent texts, rulings."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any, NamedTuple

from django import forms
from django.utils.translation import gettext_lazy as _
from django_stubs_ext import StrOrPromise

from apps.authors.models import Site
from apps.authors.services.sites import PLAIN
from apps.authors.translations import LANGUAGES
from apps.llm.models import ModelSpec
from apps.llm.selectors import list_models
from labelhub.core.errors import LabelhubError
from labelhub.core.interview.features import Feature, starter_library

NANO = Decimal(1_000_000_000)
ORIGINS_HELP = _(
    "Scheme and host of each page that may embed the widget, one per line, such as "
    "https://shop.example.org. Other pages are refused."
)


class LinesField(forms.CharField):
    def __init__(self, *, rows: int = 3, commas: bool = False, **kwargs: Any) -> None:
        widget = forms.Textarea(attrs={"rows": rows, "spellcheck": "false"})
        super().__init__(widget=widget, **kwargs)
        self.commas = commas

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(map(str, value)) if isinstance(value, list | tuple) else value

    def clean(self, value: Any) -> Any:
        text: str = super().clean(value)
        parts = text.replace(",", "\n").splitlines() if self.commas else text.splitlines()
        return [part.strip() for part in parts if part.strip()]


class PercentField(forms.DecimalField):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(min_value=0, max_value=100, decimal_places=2, **kwargs)

    def prepare_value(self, value: Any) -> Any:
        return f"{value * 100:g}" if isinstance(value, float) else value

    def clean(self, value: Any) -> Any:
        return float(super().clean(value)) / 100


class DollarsField(forms.DecimalField):
    """Nano-USD, typed as USD; may be empty."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(min_value=0, max_digits=15, decimal_places=6, required=False, **kwargs)

    def prepare_value(self, value: Any) -> Any:
        return f"{Decimal(value) / NANO:f}" if isinstance(value, int) else value

    def clean(self, value: Any) -> Any:
        dollars = super().clean(value)
        return None if dollars is None else int(dollars * NANO)


def library_choices() -> list[tuple[str, list[tuple[str, str]]]]:
    """The starter library for a field of checkboxes: set → ("set/key", name)."""
    return [
        (name.capitalize(), [(f"{name}/{feature.key}", feature.name) for feature in features])
        for name, features in starter_library().items()
    ]


def picked_features(picked: list[str]) -> list[Feature]:
    wanted = set(picked)
    return [
        feature
        for name, features in starter_library().items()
        for feature in features
        if f"{name}/{feature.key}" in wanted
    ]


class LanguagesForm(forms.Form):
    language = forms.ChoiceField(
        label=_("Default language"),
        choices=list(LANGUAGES.items()),
        help_text=_("Used if the author's language is not known or not among these."),
    )
    more_languages = forms.MultipleChoiceField(
        label=_("Other languages"),
        choices=list(LANGUAGES.items()),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("A question is asked in the language of the message, if it is among these."),
    )

    def languages(self) -> list[str]:
        """The default first, the others in their usual order."""
        first, more = self.cleaned_data["language"], self.cleaned_data["more_languages"]
        return [
            first,
            *(language for language in LANGUAGES if language in more and language != first),
        ]


class _ModelField(forms.ModelChoiceField):  # type: ignore[type-arg]  # generic only in the stubs
    def label_from_instance(self, obj: ModelSpec) -> str:
        return obj.full_title


#: Key, title, words, fields, and whether it is open.
_Group = tuple[str, StrOrPromise, StrOrPromise, list[forms.BoundField], bool]


class SiteSettingsForm(forms.ModelForm, LanguagesForm):  # type: ignore[type-arg]  # generic only in the stubs
    OPEN = ("embedding", "asking")
    GROUPS = (
        ("embedding", _("Pages and authors"), _(
            "Which pages may embed the widget, and who is asked."
        ), (
            "name", "enabled", "allowed_origins", "identity", "consent_by", "privacy_url",
            "language", "more_languages", "region", "country_header",
        )),
        ("asking", _("How often"), _("Too many questions drive authors away."), (
            "every_messages", "min_seconds", "per_conversation", "per_day", "most_questions",
            "least_relevant", "sampling", "reask_share",
        )),
        ("models", _("Models and chat"), _(
            "Which models word the questions and answer in the chat."
        ), (
            "model", "daily_budget_nanousd", "calls_per_day", "replies_anonymous",
            "replies_verified", "replies_network", "chat_model", "chat_title", "chat_greeting",
            "chat_instructions",
        )),
        ("rewards", _("Rewards"), _("For signed-in authors; others cannot be paid."), (
            "reward_cents", "currency", "reward_daily_cents", "reward_total_cents",
            "reward_hold_days",
        )),
        ("data", _("Data"), _("What is kept, for how long, and whether answers become gold."), (
            "keep_text", "retention_days", "answers_decide",
        )),
    )  # fmt: skip

    allowed_origins = LinesField(
        label=_("Pages that may embed it"), required=False, help_text=ORIGINS_HELP
    )
    sampling = PercentField(
        label=_("Sampling, %"),
        help_text=_(
            "Share of the messages worth asking about that are asked about. Each question "
            "stores this probability, so that answers can be weighted."
        ),
    )
    reask_share = PercentField(
        label=_("Repeated questions, %"),
        help_text=_(
            "Share of surveys that repeat a question which the author has answered before. "
            "Consistent answers speak for an author."
        ),
    )
    daily_budget_nanousd = DollarsField(
        label=_("Daily budget in USD"),
        help_text=_(
            "No model is called once this much is spent since midnight UTC. Empty: no limit."
        ),
    )

    class Meta:
        model = Site
        fields = [*PLAIN, "allowed_origins", "model", "chat_model", "daily_budget_nanousd"]
        labels = {
            "name": _("Name"),
            "currency": _("Currency"),
            "enabled": _("The widget is switched on"),
            "identity": _("Who is asked"),
            "consent_by": _("Who asks for consent"),
            "privacy_url": _("Address of the privacy notice"),
            "region": _("Country of phone numbers"),
            "country_header": _("HTTP header with the visitor's country"),
            "every_messages": _("Messages between two surveys"),
            "min_seconds": _("Seconds between two surveys"),
            "per_conversation": _("Surveys per conversation, at most"),
            "per_day": _("Surveys per author and day, at most"),
            "most_questions": _("Questions per survey, at most"),
            "least_relevant": _("Relevant features, at least"),
            "model": _("Model that words the questions"),
            "calls_per_day": _("Model calls per day, at most"),
            "replies_anonymous": _("Replies to an anonymous author per day, at most"),
            "replies_verified": _("Replies to a signed-in author per day, at most"),
            "replies_network": _("Replies to one network per day, at most"),
            "chat_model": _("Model that answers in chat mode"),
            "chat_title": _("Title of the chat"),
            "chat_greeting": _("Greeting of the chat"),
            "chat_instructions": _("Instructions for the chat's model"),
            "reward_cents": _("Reward for each answer, in cents"),
            "reward_daily_cents": _("Limit per author and day, in cents"),
            "reward_total_cents": _("Limit per author in total, in cents"),
            "reward_hold_days": _("Days for which a reward is held"),
            "keep_text": _("What is kept of a message"),
            "retention_days": _("Days for which messages are kept"),
            "answers_decide": _("A trusted author's answer becomes gold"),
        }
        help_texts = {
            "enabled": _(
                "If off, pages do not show the widget and no messages are accepted. "
                "Existing data stays."
            ),
            "every_messages": _(
                "An author gets at most one survey in this many messages, and the "
                "first one after this many messages at the earliest."
            ),
            "min_seconds": _(
                "The first survey also waits this long after the author's arrival. From "
                "the second survey dismissed in a row, each one makes the pause four times as "
                "long, up to a week."
            ),
            "region": "",
            "country_header": _("Set by your proxy, such as CF-IPCountry."),
            "per_conversation": "",
            "per_day": "",
            "most_questions": _("From 1 to 4, shown one at a time; authors can skip each one."),
            "least_relevant": _("A message with fewer relevant features is not asked about."),
            "model": _(
                "Also decides what is relevant. If empty, the text matcher takes each "
                "question from its template."
            ),
            "calls_per_day": _(
                "All calls for this site's authors. When they are used up, there are "
                "no replies and no questions until midnight UTC; messages are still accepted."
            ),
            "replies_anonymous": _(
                "The same limit applies to the messages that models judge for "
                "questions. Once it is reached, the chat asks the author to come back tomorrow."
            ),
            "replies_verified": "",
            "chat_model": "",
            "replies_network": _("All authors of one /24 (IPv6: /56) together."),
            "chat_instructions": _(
                "What the chatbot is and knows. LabelHub adds rules: be brief, "
                "ask for no personal data, do not pretend to be human."
            ),
            "reward_cents": _("0: no rewards."),
            "currency": _("Three letters, such as EUR."),
            "reward_daily_cents": "",
            "reward_total_cents": "",
            "retention_days": _("Labelled items stay."),
            "reward_hold_days": _("During this time a reward can be voided."),
            "keep_text": _(
                "Models and exports get texts only without personal data. If nothing is "
                "kept, authors are not asked within five minutes of a message that no model has "
                "judged; then set “Messages between two surveys” to 1."
            ),
            "answers_decide": _("If off, the answer is one label among others."),
        }
        widgets = {
            "identity": forms.RadioSelect,
            "consent_by": forms.RadioSelect,
            "keep_text": forms.RadioSelect,
            "chat_instructions": forms.Textarea(attrs={"rows": 5}),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        site: Site = self.instance
        self.initial.update({"language": site.language, "more_languages": site.languages[1:]})
        for name in ("model", "chat_model"):
            self.fields[name] = _ModelField(
                list_models(site.project),
                required=False,
                label=self.fields[name].label,
                help_text=self.fields[name].help_text,
                empty_label=_("Text matcher (demo)"),
            )

    def groups(self) -> Iterator[_Group]:
        """Each group; those of every day and those with an error are open."""
        for key, title, words, names in self.GROUPS:
            fields = [self[name] for name in names]
            is_open = key in self.OPEN or any(field.errors for field in fields)
            yield key, title, words, fields, is_open

    def changes(self) -> dict[str, Any]:
        apart = ("language", "more_languages")
        kept = {name: value for name, value in self.cleaned_data.items() if name not in apart}
        return kept | {"languages": self.languages()}


class ConsentForm(forms.Form):
    def __init__(self, *args: Any, site: Site, texts: dict[str, str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for language in site.languages:
            self.fields[f"text_{language}"] = forms.CharField(
                label=LANGUAGES[language],
                max_length=600,
                required=language == site.language,
                initial=texts.get(language, ""),
                widget=forms.Textarea(attrs={"rows": 3, "lang": language, "dir": "auto"}),
            )

    def texts(self) -> dict[str, str]:
        return {name.removeprefix("text_"): text for name, text in self.cleaned_data.items()}


def name_language_field(error: LabelhubError) -> LabelhubError:
    """Report errors of the list of languages at the field for the default language."""
    for fault in error.data.get("errors", []):
        if fault["field"] == "languages":
            fault["field"] = "language"
    return error


PICK = "pick"
_SETS = {
    "shopping": _(
        "What people have in mind when they want to buy something: how they feel, how "
        "urgent it is, when and for whom they buy, what matters most."
    ),
    "emotion": _(
        "What people feel while they write: the main emotion, how strong it is, its cause, "
        "and which reply they hope for."
    ),
}


class SetCard(NamedTuple):
    """A set of the starter library; ``features`` is empty for "pick"."""

    key: str
    title: StrOrPromise
    words: StrOrPromise
    features: tuple[Feature, ...]


class SiteForm(LanguagesForm):
    """A new site; all other settings have defaults."""

    name = forms.CharField(
        label=_("Name"),
        max_length=100,
        help_text=_("Authors see this name when they are asked for consent."),
    )
    allowed_origins = LinesField(
        label=_("Pages that may embed it"), required=False, help_text=ORIGINS_HELP
    )
    allow_here = forms.BooleanField(
        label=_("Also allow pages of this server, for the preview"), required=False, initial=True
    )
    questions = forms.ChoiceField(
        label=_("What do you want to learn from authors?"),
        choices=[*((key, key) for key in starter_library()), (PICK, PICK)],
        initial="shopping",
    )
    picked = forms.MultipleChoiceField(label=_("Features"), choices=library_choices, required=False)
    identity = forms.ChoiceField(
        label=_("Who is asked?"),
        choices=Site.Identity.choices,
        initial=Site.Identity.ANONYMOUS,
        widget=forms.RadioSelect,
        help_text=_("Only signed-in authors can earn rewards."),
    )
    consent_by = forms.ChoiceField(
        label=_("Who asks for consent?"),
        choices=Site.ConsentBy.choices,
        initial=Site.ConsentBy.WIDGET,
        widget=forms.RadioSelect,
        help_text=_(
            "Before consent, nothing is stored or sent. Choose the host only if its own "
            "consent names this purpose."
        ),
    )
    field_order = ["name", "allowed_origins", "allow_here", "questions", "picked", "language"]

    def clean(self) -> dict[str, Any]:
        """Picking features requires at least one."""
        cleaned: dict[str, Any] = super().clean() or {}
        if cleaned.get("questions") == PICK and not cleaned.get("picked"):
            self.add_error("picked", _("Select at least one feature."))
        return cleaned

    def features(self) -> list[Feature]:
        chosen = self.cleaned_data["questions"]
        if chosen == PICK:
            return picked_features(self.cleaned_data["picked"])
        return list(starter_library()[chosen])

    def set_cards(self) -> Iterator[SetCard]:
        """The sets of the library, and a card for picking single features."""
        for key, features in starter_library().items():
            yield SetCard(key, key.capitalize(), _SETS.get(key, ""), tuple(features))
        yield SetCard(
            PICK,
            _("Single features"),
            _("Select the ones you need; you can add your own later."),
            (),
        )

    def chosen_set(self) -> str:
        return str(self["questions"].value())


class ConsoleForm(forms.Form):
    text = forms.CharField(
        label=_("A message as an author would write it"),
        max_length=8000,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 4}),
    )


class RulingForm(forms.Form):
    trusted = forms.TypedChoiceField(
        label=_("Decision"),
        choices=[("no", _("Exclude")), ("yes", _("Include")), ("", _("Let the signals decide"))],
        coerce=lambda given: given == "yes",
        empty_value=None,
        required=False,
    )
    reason = forms.CharField(
        label=_("Reason"),
        max_length=300,
        required=False,
        help_text=_("Stored with each excluded answer."),
    )

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if cleaned.get("trusted") is False and not cleaned.get("reason"):
            self.add_error("reason", _("Give a reason: it is stored with the answers."))
        return cleaned
