"""Words about offers: reasons and arms on pages, and what an offer asks its author."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext_lazy as _
from django_stubs_ext import StrOrPromise

from apps.authors.translations import translated
from labelhub.core.echo.recommending.policies import Why

#: The reasons for decisions.
WHY_WORDS: Mapping[str, StrOrPromise] = {
    Why.GOOD_MATCH: _("Good match"),
    Why.EXPLORING: _("At random, to learn from it"),
    Why.TOO_FEW_MESSAGES: _("Too few messages since the last offer"),
    Why.TOO_SOON: _("Too soon after the last offer"),
    Why.NO_MATCH: _("No item of the catalogue fits"),
    Why.WEAK_MATCH: _("No item fits well enough"),
    Why.OFF_TOPIC: _("The fitting items have little to do with the message"),
}
POLICY_WORDS: Mapping[str, StrOrPromise] = {
    "echo": "Echo",
    "keyword": _("Words in common"),
    "random": _("Any item"),
    "nothing": _("No offers"),
}
#: What an arm does.
POLICY_DOES: Mapping[str, StrOrPromise] = {
    "echo": _(
        "Offers the item that best fits the words and the predictions, if it fits well enough"
    ),
    "keyword": _("Offers the item with the most words in common with the message"),
    "random": _("Offers any item of the catalogue"),
    "nothing": _("Offers nothing"),
}
#: What an offer asks its author, and the line below it, in the languages of the widget.
WAS_IT_HELPFUL = {
    "en": "Was this helpful?",
    "de": "War das hilfreich?",
    "es": "¿Le ha sido útil?",
    "fr": "Cela vous a-t-il aidé ?",
    "ja": "役に立ちましたか？",
    "ar": "هل كان هذا مفيدًا؟",
}
YES = {"en": "Yes", "de": "Ja", "es": "Sí", "fr": "Oui", "ja": "はい", "ar": "نعم"}
NO = {"en": "No", "de": "Nein", "es": "No", "fr": "Non", "ja": "いいえ", "ar": "لا"}
#: The question that now and then follows the rating, and its answer if no option fits.
WHAT_MATTERED = {
    "en": "What mattered most for this suggestion?",
    "de": "Was war für diesen Vorschlag am wichtigsten?",
    "es": "¿Qué fue lo más importante para esta sugerencia?",
    "fr": "Qu'est-ce qui a compté le plus pour cette suggestion ?",
    "ja": "この提案で最も重要だったのはどれですか？",
    "ar": "ما الأكثر أهمية لهذا الاقتراح؟",
}
NONE_OF_THESE = {
    "en": "None of these",
    "de": "Nichts davon",
    "es": "Ninguna de estas cosas",
    "fr": "Rien de tout cela",
    "ja": "どれでもない",
    "ar": "لا شيء مما سبق",
}
CHOSEN_BY = {
    "en": "Chosen by what you wrote here.",
    "de": "Ausgewählt nach dem, was Sie hier geschrieben haben.",
    "es": "Elegido por lo que ha escrito aquí.",
    "fr": "Choisi d'après ce que vous avez écrit ici.",
    "ja": "ここに書かれた内容から選ばれました。",
    "ar": "اختير بناءً على ما كتبته هنا.",
}


def why_words(why: str) -> str:
    """The reason in words; an unknown reason stays as it is."""
    return str(WHY_WORDS.get(why, why.replace("_", " ")))


def policy_words(policy: str) -> str:
    """What an arm does, in words."""
    return str(POLICY_DOES.get(policy, policy))


def arm_words(arm: str) -> str:
    """The name of an arm on pages; an arm created over REST keeps its own name."""
    return str(POLICY_WORDS.get(arm, arm))


def helpful_words(language: str) -> dict[str, str]:
    """The question whether the offer helped, and its two answers."""
    return {
        "ask": translated(WAS_IT_HELPFUL, language),
        "yes": translated(YES, language),
        "no": translated(NO, language),
    }


def mattered_words(language: str, options: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """The question what mattered most; ``options``: keys and names of features."""
    return {
        "ask": translated(WHAT_MATTERED, language),
        "options": options,
        "none": translated(NONE_OF_THESE, language),
    }
