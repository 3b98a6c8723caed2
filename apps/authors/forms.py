"""The forms of a site's pages: new sites, settings, consent texts, rulings."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any, NamedTuple

from django import forms

from apps.authors.models import Site
from apps.authors.translations import LANGUAGES
from apps.llm.models import ModelSpec
from apps.llm.selectors import list_models
from labelhub.core.errors import LabelhubError
from labelhub.core.interview.features import Feature, starter_library

NANO = Decimal(1_000_000_000)
ORIGINS_HELP = (
    "Scheme and host of each page that may embed the widget, one a line, such as "
    "https://shop.example.org. Others are refused."
)


class LinesField(forms.CharField):
    """A list, one entry a line."""

    def __init__(self, *, rows: int = 3, commas: bool = False, **kwargs: Any) -> None:
        widget = forms.Textarea(attrs={"rows": rows, "spellcheck": "false"})
        super().__init__(widget=widget, **kwargs)
        self.commas = commas

    def prepare_value(self, value: Any) -> Any:
        """A list as lines; what was typed stays as it is."""
        return "\n".join(map(str, value)) if isinstance(value, list | tuple) else value

    def clean(self, value: Any) -> Any:
        """The lines that are not empty."""
        text: str = super().clean(value)
        parts = text.replace(",", "\n").splitlines() if self.commas else text.splitlines()
        return [part.strip() for part in parts if part.strip()]


class PercentField(forms.DecimalField):
    """A share, typed as per cent."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(min_value=0, max_value=100, decimal_places=2, **kwargs)

    def prepare_value(self, value: Any) -> Any:
        """A share as per cent; what was typed stays as it is."""
        return f"{value * 100:g}" if isinstance(value, float) else value

    def clean(self, value: Any) -> Any:
        """The share, from 0 to 1."""
        return float(super().clean(value)) / 100


class DollarsField(forms.DecimalField):
    """Nano-USD, typed as USD; empty for none."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(min_value=0, max_digits=15, decimal_places=6, required=False, **kwargs)

    def prepare_value(self, value: Any) -> Any:
        """Nano-USD as USD; what was typed stays as it is."""
        return f"{Decimal(value) / NANO:f}" if isinstance(value, int) else value

    def clean(self, value: Any) -> Any:
        """Nano-USD, or None."""
        dollars = super().clean(value)
        return None if dollars is None else int(dollars * NANO)


def library_choices() -> list[tuple[str, list[tuple[str, str]]]]:
    """The starter library for a field of checkboxes: set → ("set/key", name)."""
    return [
        (name.capitalize(), [(f"{name}/{feature.key}", feature.name) for feature in features])
        for name, features in starter_library().items()
    ]


def picked_features(picked: list[str]) -> list[Feature]:
    """The features of the library that were ticked, in the library's order."""
    wanted = set(picked)
    return [
        feature
        for name, features in starter_library().items()
        for feature in features
        if f"{name}/{feature.key}" in wanted
    ]


class LanguagesForm(forms.Form):
    """Default language and others, which make one list."""

    language = forms.ChoiceField(
        label="Default language",
        choices=list(LANGUAGES.items()),
        help_text="Asked in where the author's language is not known or not offered.",
    )
    more_languages = forms.MultipleChoiceField(
        label="Also asked in",
        choices=list(LANGUAGES.items()),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="A question is asked in the language of the message, if it is among these.",
    )

    def languages(self) -> list[str]:
        """The default first, the others in their usual order."""
        first, more = self.cleaned_data["language"], self.cleaned_data["more_languages"]
        return [
            first,
            *(language for language in LANGUAGES if language in more and language != first),
        ]


class _ModelField(forms.ModelChoiceField):  # type: ignore[type-arg]  # generic only in the stubs
    """A model, offered as on the other pages."""

    def label_from_instance(self, obj: ModelSpec) -> str:
        """Its name and whose it is: the offline model's provider says that it is no LLM."""
        return f"{obj.name} · {obj.provider.name}"


class SiteSettingsForm(forms.ModelForm, LanguagesForm):  # type: ignore[type-arg]  # generic only in the stubs
    """Everything that can be changed of a site, in groups."""

    GROUPS = (
        ("embedding", "Where and who", "Which pages may embed the widget, and whom it serves.", (
            "name", "enabled", "allowed_origins", "identity", "consent_by", "privacy_url",
            "language", "more_languages", "region", "country_header",
        )),
        ("asking", "How often", "A question too many costs more than it brings.", (
            "every_messages", "min_seconds", "per_conversation", "per_day", "most_questions",
            "least_relevant", "sampling", "reask_share",
        )),
        ("models", "Models and chat", "Who words the questions, and who answers in chat mode.", (
            "model", "daily_budget_nanousd", "calls_per_day", "replies_anonymous",
            "replies_verified", "replies_network", "chat_model", "chat_title", "chat_greeting",
            "chat_instructions",
        )),
        ("rewards", "Rewards", "For people whom the host has signed in; nobody else can be paid.", (
            "reward_cents", "currency", "reward_daily_cents", "reward_total_cents",
            "reward_hold_days",
        )),
        ("data", "Data", "What is kept, for how long, and what an answer counts for.", (
            "keep_text", "retention_days", "answers_decide",
        )),
    )  # fmt: skip

    allowed_origins = LinesField(
        label="Pages that may embed it", required=False, help_text=ORIGINS_HELP
    )
    sampling = PercentField(
        label="Sampling, %",
        help_text="Of the messages worth asking about, so many are asked about. The chance is "
        "kept with each question, to weigh answers by.",
    )
    reask_share = PercentField(
        label="Asked again, %",
        help_text="Of surveys, so many repeat a question the author has answered before: whether "
        "they say the same is a sign of trust.",
    )
    daily_budget_nanousd = DollarsField(
        label="Budget of a day in USD",
        help_text="Models are not asked once so much is spent since midnight UTC. Empty: no limit.",
    )

    class Meta:
        model = Site
        fields = [
            "name", "enabled", "identity", "consent_by", "privacy_url", "region", "country_header",
            "every_messages", "min_seconds", "per_conversation", "per_day", "most_questions",
            "least_relevant", "model", "calls_per_day", "replies_anonymous", "replies_verified",
            "replies_network", "chat_model", "chat_title", "chat_greeting",
            "chat_instructions", "reward_cents", "currency", "reward_daily_cents",
            "reward_total_cents", "reward_hold_days", "keep_text", "retention_days",
            "answers_decide",
        ]  # fmt: skip
        labels = {
            "enabled": "The widget is switched on",
            "identity": "Who is asked",
            "consent_by": "Who asks for consent",
            "privacy_url": "Address of the privacy notice",
            "region": "Country of phone numbers",
            "country_header": "Header with the visitor's country",
            "every_messages": "Messages between two surveys",
            "min_seconds": "Seconds between two surveys",
            "per_conversation": "Surveys in a conversation",
            "per_day": "Surveys of an author a day",
            "most_questions": "Questions of a survey, at most",
            "least_relevant": "Features that must matter",
            "model": "Model that words the questions",
            "calls_per_day": "Model calls of the site a day",
            "replies_anonymous": "Replies to an anonymous author a day",
            "replies_verified": "Replies to a signed-in author a day",
            "replies_network": "Replies to one network a day",
            "chat_model": "Model that answers in chat mode",
            "chat_title": "Title of the chat",
            "chat_greeting": "First words of the chat",
            "chat_instructions": "Instructions to the chat's model",
            "reward_cents": "For each answer, in cents",
            "reward_daily_cents": "Most per author a day, in cents",
            "reward_total_cents": "Most per author in all, in cents",
            "reward_hold_days": "Held for so many days",
            "keep_text": "What is kept of a message",
            "retention_days": "Messages are kept for so many days",
            "answers_decide": "A trusted author's answer becomes gold",
        }
        help_texts = {
            "enabled": "Off: pages show nothing, nothing is taken, what was said stays.",
            "every_messages": "At most one survey in so many messages of an author; the first one "
            "not before so many.",
            "min_seconds": "The first one not before so many since they came. After two surveys "
            "sent away in a row the pause grows four times with each, up to a week.",
            "per_conversation": "At most.",
            "most_questions": "One at a time, 1 to 4, each can be skipped.",
            "least_relevant": "Fewer features that matter to a message, and it is not asked about.",
            "model": "Also judges what is relevant. Empty: the offline model, a text matcher that "
            "takes each question from its template.",
            "calls_per_day": "All that models do for this site's authors. Used up: no replies and "
            "no questions until midnight UTC; messages are still taken.",
            "replies_anonymous": "As many messages of theirs, at most, are looked at for questions "
            "too. Then the chat says that it was all for today.",
            "replies_network": "All authors of one /24 (IPv6: /56) together.",
            "chat_instructions": "What it is and knows. Ours are added: be brief, ask for no "
            "personal data, do not pretend to be human.",
            "reward_cents": "0: no rewards.",
            "currency": "Three letters, such as EUR.",
            "reward_hold_days": "Time in which a reward can be voided.",
            "keep_text": "Models and exports only ever see it without personal data. Where nothing "
            "is kept, nobody is asked within five minutes of a message that no model has judged: "
            "let one message lie between two surveys.",
            "answers_decide": "Off: the answer is one label among others.",
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
        own = ("allowed_origins", "sampling", "reask_share", "daily_budget_nanousd")
        self.initial.update({name: getattr(site, name) for name in own})
        self.initial.update({"language": site.language, "more_languages": site.languages[1:]})
        for name in ("model", "chat_model"):
            self.fields[name] = _ModelField(
                list_models(),
                required=False,
                label=self.fields[name].label,
                help_text=self.fields[name].help_text,
                empty_label="Offline model (not an LLM)",
            )

    def groups(self) -> Iterator[tuple[str, str, str, list[forms.BoundField]]]:
        """Key, title, words and fields of each group."""
        for key, title, words, names in self.GROUPS:
            yield key, title, words, [self[name] for name in names]

    def changes(self) -> dict[str, Any]:
        """What :func:`update_site` is to take."""
        apart = ("language", "more_languages")
        kept = {name: value for name, value in self.cleaned_data.items() if name not in apart}
        return kept | {"languages": self.languages()}


class ConsentForm(forms.Form):
    """What authors agree to, in each language of the site."""

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
        """Language → text."""
        return {name.removeprefix("text_"): text for name, text in self.cleaned_data.items()}


def name_language_field(error: LabelhubError) -> LabelhubError:
    """The refusal with the list of languages under the name of the field that leads it."""
    for fault in error.data.get("errors", []):
        if fault["field"] == "languages":
            fault["field"] = "language"
    return error


PICK = "pick"
_SETS = {
    "shopping": "What people who look for something to buy have in mind: how they feel, how "
    "urgent it is, when and for whom they buy, what matters most.",
    "emotion": "What people feel while they write: the main emotion, how strong, where it comes "
    "from, which reply they hope for.",
}


class SetCard(NamedTuple):
    """A set of the starter library to choose; ``features`` is empty for "pick"."""

    key: str
    title: str
    words: str
    features: tuple[Feature, ...]


class SiteForm(LanguagesForm):
    """What a new site needs; everything else has a default and is under its settings."""

    name = forms.CharField(
        max_length=100, help_text="Authors see it where they are asked for consent."
    )
    allowed_origins = LinesField(
        label="Pages that may embed it", required=False, help_text=ORIGINS_HELP
    )
    allow_here = forms.BooleanField(
        label="Also pages of this server, for the preview", required=False, initial=True
    )
    questions = forms.ChoiceField(
        label="What do you want to learn from authors?",
        choices=[*((key, key) for key in starter_library()), (PICK, PICK)],
        initial="shopping",
    )
    picked = forms.MultipleChoiceField(label="Features", choices=library_choices, required=False)
    identity = forms.ChoiceField(
        label="Who is asked?",
        choices=Site.Identity.choices,
        initial=Site.Identity.ANONYMOUS,
        widget=forms.RadioSelect,
        help_text="Rewards need people whom the host has signed in.",
    )
    consent_by = forms.ChoiceField(
        label="Who asks for consent?",
        choices=Site.ConsentBy.choices,
        initial=Site.ConsentBy.WIDGET,
        widget=forms.RadioSelect,
        help_text="Nothing is stored or sent before. Choose the host only if its own consent "
        "names this purpose.",
    )
    field_order = ["name", "allowed_origins", "allow_here", "questions", "picked", "language"]

    def clean(self) -> dict[str, Any]:
        """Picking features takes at least one."""
        cleaned: dict[str, Any] = super().clean() or {}
        if cleaned.get("questions") == PICK and not cleaned.get("picked"):
            self.add_error("picked", "Tick at least one feature.")
        return cleaned

    def features(self) -> list[Feature]:
        """What the site is to ask about."""
        chosen = self.cleaned_data["questions"]
        if chosen == PICK:
            return picked_features(self.cleaned_data["picked"])
        return list(starter_library()[chosen])

    def set_cards(self) -> Iterator[SetCard]:
        """The sets to choose from, and picking oneself."""
        for key, features in starter_library().items():
            yield SetCard(key, key.capitalize(), _SETS.get(key, ""), tuple(features))
        yield SetCard(
            PICK, "Pick single ones", "Tick what you need; you can write your own later.", ()
        )

    def chosen_set(self) -> str:
        """The set that is ticked now."""
        return str(self["questions"].value())


class ConsoleForm(forms.Form):
    """A message to try the stages on."""

    text = forms.CharField(
        label="A message, as an author would write it",
        max_length=8000,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 4}),
    )


class RulingForm(forms.Form):
    """A manager's decision over the signals."""

    trusted = forms.TypedChoiceField(
        choices=[("no", "Exclude"), ("yes", "Include"), ("", "Leave it to the signals")],
        coerce=lambda given: given == "yes",
        empty_value=None,
        required=False,
    )
    reason = forms.CharField(
        max_length=300, required=False, help_text="Kept with each answer that it excludes."
    )

    def clean(self) -> dict[str, Any]:
        """Excluding somebody takes a reason."""
        cleaned: dict[str, Any] = super().clean() or {}
        if cleaned.get("trusted") is False and not cleaned.get("reason"):
            self.add_error("reason", "Say why: it is kept with their answers.")
        return cleaned


class TypedForm(forms.Form):
    """What cannot be undone takes typed words."""

    typed = forms.CharField()

    def __init__(self, *args: Any, words: str, label: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.words = words
        self.fields["typed"].label = label

    def clean_typed(self) -> str:
        """Exactly the words."""
        typed: str = self.cleaned_data["typed"].strip()
        if typed != self.words:
            raise forms.ValidationError(f"That is not “{self.words}”.")
        return typed
