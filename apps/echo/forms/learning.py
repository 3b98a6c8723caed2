"""The forms of a site's page on Echo."""

from django import forms

from apps.echo.models import Echo
from apps.echo.services.search_schedule import LEAST_ANSWERS, NEW_ANSWERS
from labelhub.core.echo.prompt_search import LEAST_AUTHORS, most_calls

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
