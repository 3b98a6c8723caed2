"""The forms of Echo's pages: its settings, offers, the catalogue, experiments."""

from typing import Any

from django import forms

from apps.authors.forms import PercentField
from apps.echo.models import Echo
from apps.echo.offer_words import AGAIN, ARM_WORDS
from apps.echo.services.prompt_search import LEAST_ANSWERS, NEW_ANSWERS
from labelhub.core.echo.experiments.assignment import Arm
from labelhub.core.echo.prompt_search import LEAST_AUTHORS, most_calls
from labelhub.core.echo.recommending.policies import NOTHING

_GROUPS = (
    ("Asking", ("k", "explore", "burden", "models_per_message")),
    ("Language model", ("llm_features", "example_tokens")),
    ("Searching instructions", ("search_on", "search_calls_per_day")),
)
#: Calls of a search at most: where no instruction is in use, and where one is.
_FIRST, _AGAIN = most_calls(present=False), most_calls(present=True)


class EchoSettingsForm(forms.ModelForm):  # type: ignore[type-arg]  # generic only in the stubs
    """What a manager sets of how Echo asks."""

    class Meta:
        model = Echo
        fields = [
            "k", "explore", "burden", "models_per_message", "llm_features", "example_tokens",
            "search_on", "search_calls_per_day",
        ]  # fmt: skip
        labels = {
            "k": "Features looked at for a message",
            "explore": "Share of surveys that ask at random",
            "burden": "What a question must be worth",
            "models_per_message": "Feature models run for one message",
            "llm_features": "Features it predicts",
            "example_tokens": "Tokens of authors' answers",
            "search_on": "Search for better instructions",
            "search_calls_per_day": "Calls of searches in a day",
        }
        help_texts = {
            "k": "1 to 100, the most relevant ones: what is expected of them is passed on, and "
            "authors are asked about these alone.",
            "explore": "0 to 1. With none at all, what looks unimportant is never looked at again.",
            "burden": "0 to 1. The worth, as told below with each question, is what relevance may "
            "well be (one deviation above what is expected) × doubt × chance of an answer, less "
            "for features with many answers; 0 asks whenever the site's pauses allow it.",
            "models_per_message": "1 to 1,000; the most relevant ones. More takes more time.",
            "llm_features": "0 to 20 for each message that is asked about, the most relevant "
            "ones; each is a call of the site's model. 0: authors' answers alone.",
            "example_tokens": "0 to 2,000 in the prompt of each of these calls: the nearest "
            "messages that authors have answered about. 0 shows none.",
            "search_on": f"One search takes up to {_FIRST:,} calls of the site's model, and up to "
            f"{_AGAIN:,} where an instruction is in use; the site's daily budget pays. It is for "
            f"one feature, which is due with {LEAST_ANSWERS} answers by {LEAST_AUTHORS} authors "
            f"and again after {NEW_ANSWERS} more.",
            "search_calls_per_day": "1 to 100,000, counted by UTC. With these used up a search "
            "rests until tomorrow.",
        }

    def groups(self) -> list[tuple[str, list[forms.BoundField]]]:
        """The fields by what they are about, each group with its heading."""
        return [(words, [self[name] for name in names]) for words, names in _GROUPS]


class InstructionForm(forms.Form):
    """Whose instruction is to be used; nothing: none."""

    search = forms.IntegerField(min_value=1, max_value=2**62, required=False)


class OfferSettingsForm(forms.ModelForm):  # type: ignore[type-arg]  # generic only in the stubs
    """How often, how fitting, and how long a click is waited for."""

    offer_explore = PercentField(
        label="Offered at random, %",
        help_text="Of the messages for which something fits, so many are offered one of those "
        "items at random. Without it nobody can tell what other choices would earn.",
    )

    class Meta:
        model = Echo
        fields = (
            "offer_every_messages",
            "offer_min_seconds",
            "offer_least_match",
            "offer_explore",
            "reward_minutes",
        )
        labels = {
            "offer_every_messages": "Messages between two offers",
            "offer_min_seconds": "Seconds between two offers",
            "offer_least_match": "How well an item must fit",
            "reward_minutes": "Minutes a click is waited for",
        }
        help_texts = {
            "offer_every_messages": "At most one offer in so many messages of an author.",
            "offer_min_seconds": "And at least so long after the last one.",
            "offer_least_match": "From 0 (anything) to 1. “Try a text” shows the score that items "
            "reach; below this one they are not offered.",
            "reward_minutes": "After so long without one, Echo learns that there was none.",
        }


class CatalogueFileForm(forms.Form):
    """A catalogue as a file."""

    file = forms.FileField(
        widget=forms.ClearableFileInput(attrs={"accept": ".csv,.tsv,.json,text/csv"}),
        error_messages={"empty": "The file is empty."},
        help_text="A table with a heading (CSV) or a list of items (JSON), UTF-8.",
    )
    replace = forms.BooleanField(
        label="Items that are not in the file are offered no more", required=False
    )


class TryForm(forms.Form):
    """A text to try."""

    text = forms.CharField(
        label="Message",
        max_length=4_000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="As an author would write it.",
    )


def _share(policy: str, words: str) -> forms.IntegerField:
    usual = {"echo": 50, "keyword": 50}.get(policy)
    return forms.IntegerField(label=words, min_value=1, max_value=99, required=False, initial=usual)


class ExperimentForm(forms.Form):
    """An experiment: which arms, in which shares, by what, for how long."""

    name = forms.CharField(max_length=100)
    echo = _share("echo", "Echo, %")
    keyword = _share("keyword", "Words in common, %")
    random = _share("random", "Any item, %")
    nothing = _share("nothing", "No offers, %")
    echo_again = _share(AGAIN, "Echo once more, %")
    control = forms.ChoiceField(
        label="Compared with",
        choices=list(ARM_WORDS.items()),
        initial="keyword",
        help_text="The arm that the others are measured by; one that makes offers.",
    )
    by = forms.ChoiceField(
        label="Assigned",
        choices=[("author", "By author"), ("window", "By time")],
        initial="author",
        widget=forms.RadioSelect,
        help_text="By author: everybody stays in one arm. By time: the arms take turns, where one "
        "author's offers bear on another's.",
    )
    hours = forms.TypedChoiceField(
        label="Hours of one turn",
        choices=[(hours, str(hours)) for hours in (1, 2, 4, 6, 12, 24)],
        coerce=int,
        initial=4,
        required=False,
        help_text="Only by time.",
    )
    planned_days = forms.IntegerField(label="Planned days", min_value=1, max_value=365, initial=28)

    SHARES = tuple(ARM_WORDS)

    def arms(self) -> list[Arm]:
        """The arms that have a share."""
        shares = {name: self.cleaned_data.get(name) for name in self.SHARES}
        return [
            Arm(name, share / 100, "echo" if name == AGAIN else name)
            for name, share in shares.items()
            if share
        ]

    def share_fields(self) -> list[forms.BoundField]:
        """The fields of the arms."""
        return [self[name] for name in self.SHARES]

    def clean(self) -> dict[str, Any]:
        """The shares amount to all, and the control is one of the arms."""
        data = super().clean() or {}
        shares = {name: data.get(name) or 0 for name in self.SHARES}
        if not set(self.SHARES) & set(self.errors) and sum(shares.values()) != 100:
            self.add_error(None, f"The shares sum to {sum(shares.values())} %, not to 100.")
        control = data.get("control")
        if control and control not in self.errors and not shares[control]:
            self.add_error("control", "This arm has no share.")
        if data.get("control") == NOTHING:
            problem = "Without offers there are no clicks, so nothing can be compared with it."
            self.add_error("control", f"{problem} Choose an arm that makes offers.")
        return data
