"""The forms of Echo's pages: its settings, offers, the catalogue, experiments."""

from typing import Any

from django import forms
from django.utils.text import format_lazy
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django_stubs_ext import StrOrPromise

from apps.authors.forms import PercentField
from apps.echo.models import Echo
from apps.echo.offer_words import AGAIN, ARM_WORDS
from apps.echo.services.prompt_search import LEAST_ANSWERS, NEW_ANSWERS
from labelhub.core.echo.experiments.assignment import Arm
from labelhub.core.echo.prompt_search import LEAST_AUTHORS, most_calls
from labelhub.core.echo.recommending.policies import NOTHING

_GROUPS = (
    (_("Asking"), ("k", "explore", "burden", "models_per_message")),
    (_("Language model"), ("llm_features", "example_tokens")),
    (_("Searching instructions"), ("search_on", "search_calls_per_day")),
)
#: Maximum calls of a search: without a current instruction, and with one.
_FIRST, _AGAIN = most_calls(present=False), most_calls(present=True)


class EchoSettingsForm(forms.ModelForm):  # type: ignore[type-arg]  # generic only in the stubs
    """The settings that decide how Echo asks."""

    class Meta:
        model = Echo
        fields = [
            "k", "explore", "burden", "models_per_message", "llm_features", "example_tokens",
            "search_on", "search_calls_per_day",
        ]  # fmt: skip
        labels = {
            "k": _("Features selected per message"),
            "explore": _("Share of surveys that ask at random"),
            "burden": _("Minimum value of a question"),
            "models_per_message": _("Feature models per message"),
            "llm_features": _("Features it predicts per message"),
            "example_tokens": _("Tokens of example answers"),
            "search_on": _("Search for better instructions"),
            "search_calls_per_day": _("Search calls per day"),
        }
        help_texts = {
            "k": _(
                "1 to 100, the most relevant features. Echo passes on its predictions of them, "
                "and asks authors about no others."
            ),
            "explore": _("0 to 1. At 0, Echo never checks again a feature that seems unimportant."),
            "burden": _(
                "0 to 1. The list of last messages below shows the value of each question: "
                "relevance (one standard deviation above its mean) × uncertainty × chance of an "
                "answer, less for features with many answers. At 0, Echo asks whenever the site's "
                "pauses allow it."
            ),
            "models_per_message": _(
                "1 to 1,000, for the most relevant features. More take more time."
            ),
            "llm_features": _(
                "0 to 20, the most relevant features; each takes a call of the site's "
                "model. Only for messages that authors are asked about. At 0, Echo predicts from "
                "authors' answers alone."
            ),
            "example_tokens": _(
                "0 to 2,000 in the prompt of each of these calls, for the most "
                "similar messages that authors have answered about. At 0, the prompt shows none."
            ),
            "search_on": format_lazy(
                _(
                    "A search takes up to {first} calls of the site's model, or up to {again} if "
                    "an instruction is in use, paid from the site's daily budget. It is for one "
                    "feature: the first starts after {answers} answers by {authors} authors, the "
                    "next after {more} more."
                ),
                first=_FIRST,
                again=_AGAIN,
                answers=LEAST_ANSWERS,
                authors=LEAST_AUTHORS,
                more=NEW_ANSWERS,
            ),
            "search_calls_per_day": _(
                "1 to 100,000; a day starts at midnight UTC. When these are "
                "used up, the search pauses until the next day."
            ),
        }

    def groups(self) -> list[tuple[StrOrPromise, list[forms.BoundField]]]:
        """The fields in groups, each with its heading."""
        return [(words, [self[name] for name in names]) for words, names in _GROUPS]


class InstructionForm(forms.Form):
    """The search whose instruction to use; empty for no instruction."""

    search = forms.IntegerField(min_value=1, max_value=2**62, required=False)


class OfferSettingsForm(forms.ModelForm):  # type: ignore[type-arg]  # generic only in the stubs
    """How often offers are made, how well they must fit, and how long Echo waits for a click."""

    offer_explore = PercentField(
        label=_("Offered at random, %"),
        help_text=_(
            "For this share of the messages with fitting items, Echo offers one of these "
            "items at random. Without random offers, the results of other choices cannot be "
            "estimated."
        ),
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
            "offer_every_messages": _("Messages between two offers"),
            "offer_min_seconds": _("Seconds between two offers"),
            "offer_least_match": _("Minimum score of an item"),
            "reward_minutes": _("Minutes to wait for a click"),
        }
        help_texts = {
            "offer_every_messages": _(
                "An author gets at most one offer in this number of messages."
            ),
            "offer_min_seconds": _("An author gets no offer sooner after the last one."),
            "offer_least_match": _(
                "From 0 (any item) to 1. Items with a lower score are not "
                "offered. “Try a text” shows the scores of items."
            ),
            "reward_minutes": _(
                "After this time without a click, Echo learns that the offer failed."
            ),
        }


class CatalogueFileForm(forms.Form):
    """A catalogue as a file."""

    file = forms.FileField(
        label=_("File"),
        widget=forms.ClearableFileInput(attrs={"accept": ".csv,.tsv,.json,text/csv"}),
        error_messages={"empty": _("The file is empty.")},
        help_text=_("A CSV table with a header row, or a JSON list of items, in UTF-8."),
    )
    replace = forms.BooleanField(
        label=_("Stop offering items that are not in the file"), required=False
    )


class TryForm(forms.Form):
    """A text to try."""

    text = forms.CharField(
        label=_("Message"),
        max_length=4_000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("Write it as an author would."),
    )


def _share(policy: str, words: StrOrPromise) -> forms.IntegerField:
    usual = {"echo": 50, "keyword": 50}.get(policy)
    return forms.IntegerField(label=words, min_value=1, max_value=99, required=False, initial=usual)


class ExperimentForm(forms.Form):
    """An experiment: its arms and their shares, how they are assigned, and its planned days."""

    name = forms.CharField(label=_("Name"), max_length=100)
    echo = _share("echo", "Echo, %")
    keyword = _share("keyword", _("Words in common, %"))
    random = _share("random", _("Any item, %"))
    nothing = _share("nothing", _("No offers, %"))
    echo_again = _share(AGAIN, _("Echo once more, %"))
    control = forms.ChoiceField(
        label=_("Compared with"),
        choices=list(ARM_WORDS.items()),
        initial="keyword",
        help_text=_("The control: the other arms are compared with it. It must make offers."),
    )
    by = forms.ChoiceField(
        label=_("Assigned"),
        choices=[("author", _("By author")), ("window", _("By time"))],
        initial="author",
        widget=forms.RadioSelect,
        help_text=_(
            "By author: each author stays in one arm. By time: the arms take turns; choose "
            "this if one author's offers influence other authors."
        ),
    )
    hours = forms.TypedChoiceField(
        label=_("Hours per turn"),
        choices=[(hours, str(hours)) for hours in (1, 2, 4, 6, 12, 24)],
        coerce=int,
        initial=4,
        required=False,
        help_text=_("Only for assignment by time."),
    )
    planned_days = forms.IntegerField(
        label=_("Planned days"), min_value=1, max_value=365, initial=28
    )

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
        """Check that the shares sum to 100 %, and that the control is an arm that makes offers."""
        data = super().clean() or {}
        shares = {name: data.get(name) or 0 for name in self.SHARES}
        if not set(self.SHARES) & set(self.errors) and sum(shares.values()) != 100:
            self.add_error(
                None,
                gettext("The shares sum to %(sum)s %%, not to 100.")
                % {"sum": sum(shares.values())},
            )
        control = data.get("control")
        if control and control not in self.errors and not shares[control]:
            self.add_error("control", _("This arm has no share."))
        if data.get("control") == NOTHING:
            problem = gettext(
                "Without offers there are no clicks, so nothing can be compared with it. "
                "Choose an arm that makes offers."
            )
            self.add_error("control", problem)
        return data
