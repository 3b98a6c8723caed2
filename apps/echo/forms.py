"""The forms of Echo's pages: its settings, offers, the catalogue, experiments."""

from typing import Any

from django import forms
from django.utils.text import format_lazy
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django_stubs_ext import StrOrPromise

from apps.authors.forms import PercentField
from apps.echo.models import Echo
from apps.echo.offer_words import POLICY_WORDS
from labelhub.core.echo.experiments.assignment import Arm
from labelhub.core.echo.recommending.policies import ECHO, KEYWORD, NOTHING

_GROUPS = (
    (_("Asking"), ("k", "explore", "burden", "models_per_message", "shares_relevance")),
    (_("Language model"), ("llm_features", "example_tokens")),
)


class EchoSettingsForm(forms.ModelForm):  # type: ignore[type-arg]  # generic only in the stubs
    """The settings that decide how Echo asks."""

    class Meta:
        model = Echo
        fields = [name for _, names in _GROUPS for name in names]
        labels = {
            "k": _("Features selected per message"),
            "explore": _("Share of surveys that ask at random"),
            "burden": _("Minimum value of a question"),
            "models_per_message": _("Feature models per message"),
            "shares_relevance": _("Share relevance with the other sites of this server"),
            "llm_features": _("Features it predicts per message"),
            "example_tokens": _("Tokens of example answers"),
        }
        help_texts = {
            "k": _(
                "1 to 100, the most relevant features. Echo passes on its predictions of them, and "
                "asks authors about them and a few others that are nearly as relevant."
            ),
            "explore": _("0 to 1. At 0, Echo never checks again a feature that seems unimportant."),
            "burden": _(
                "0 to 1. The list of last messages below shows the value of each question: "
                "uncertainty × possible relevance × chance of an answer. At 0, Echo asks whenever "
                "the site's pauses allow it."
            ),
            "models_per_message": _(
                "1 to 1,000, for the most relevant features. More take more time."
            ),
            "shares_relevance": _(
                "A new feature starts from what other sites learnt about one with the same key and "
                "values, and they from what this site learnt. Nothing about authors or texts is "
                "shared."
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
        }

    def groups(self) -> list[tuple[StrOrPromise, list[forms.BoundField]]]:
        """The fields in groups, each with its heading."""
        return [(words, [self[name] for name in names]) for words, names in _GROUPS]


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


class ExperimentForm(forms.Form):
    """An experiment: the shares of its arms, each named by its policy, and its planned days."""

    name = forms.CharField(label=_("Name"), max_length=100)
    control = forms.ChoiceField(
        label=_("Compared with"),
        choices=list(POLICY_WORDS.items()),
        initial=KEYWORD,
        help_text=_("The control: the other arms are compared with it. It must make offers."),
    )
    planned_days = forms.IntegerField(
        label=_("Planned days"), min_value=1, max_value=365, initial=28
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for policy, words in POLICY_WORDS.items():
            self.fields[policy] = forms.IntegerField(
                label=format_lazy("{}, %", words),
                min_value=1,
                max_value=99,
                required=False,
                initial=50 if policy in (ECHO, KEYWORD) else None,
            )

    def design(self) -> dict[str, Any]:
        """The checked design; its arms are those that have a share."""
        shares = ((policy, self.cleaned_data[policy]) for policy in POLICY_WORDS)
        return {
            "arms": [Arm(policy, share / 100, policy) for policy, share in shares if share],
            **{name: self.cleaned_data[name] for name in ("name", "control", "planned_days")},
        }

    def share_fields(self) -> list[forms.BoundField]:
        """The fields of the arms."""
        return [self[policy] for policy in POLICY_WORDS]

    def clean(self) -> dict[str, Any]:
        """Check that the shares sum to 100 %, and that the control is an arm that makes offers."""
        data = super().clean() or {}
        total = sum(data.get(policy) or 0 for policy in POLICY_WORDS)
        if not POLICY_WORDS.keys() & self.errors.keys() and total != 100:
            self.add_error(
                None, gettext("The shares sum to %(sum)s %%, not to 100.") % {"sum": total}
            )
        control = data.get("control")
        if control == NOTHING:
            problem = gettext(
                "Without offers there are no clicks, so nothing can be compared with it. "
                "Choose an arm that makes offers."
            )
            self.add_error("control", problem)
        elif control and not data.get(control):
            self.add_error("control", _("This arm has no share."))
        return data
