"""Words about offers: reasons, arms and findings on pages, and what an offer asks its author."""

from collections.abc import Mapping

from apps.authors.translations import translated
from labelhub.core.echo.experiments.click_through import in_words
from labelhub.core.echo.experiments.looks import Look
from labelhub.core.echo.recommending.policies import Why

#: The reasons for decisions.
WHY_WORDS: Mapping[str, str] = {
    Why.GOOD_MATCH: "Good match",
    Why.EXPLORING: "At random, to learn from it",
    Why.SENSITIVE: "Sensitive topic",
    Why.TOO_FEW_MESSAGES: "Too few messages since the last offer",
    Why.TOO_SOON: "Too soon after the last offer",
    Why.NO_MATCH: "No item of the catalogue fits",
    Why.SHOWN_BEFORE: "The fitting items were offered recently",
    Why.WEAK_MATCH: "No item fits well enough",
    Why.OFF_TOPIC: "The fitting items have little to do with the message",
}
POLICY_WORDS: Mapping[str, str] = {
    "echo": "Echo",
    "keyword": "Words in common",
    "random": "Any item",
    "nothing": "No offers",
}
#: What an arm does.
POLICY_DOES: Mapping[str, str] = {
    "echo": "Offers the item that best fits the words and the predictions, if it fits well enough",
    "keyword": "Offers the item with the most words in common with the message",
    "random": "Offers any item of the catalogue",
    "nothing": "Offers nothing",
}
#: An arm with the policy of Echo, which tests assignment and counting.
AGAIN = "echo_again"
ARM_WORDS: Mapping[str, str] = {**POLICY_WORDS, AGAIN: "Echo once more"}
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
    return WHY_WORDS.get(why, why.replace("_", " "))


def policy_words(policy: str) -> str:
    """What an arm does, in words."""
    return POLICY_DOES.get(policy, policy)


def arm_words(arm: str) -> str:
    """The name of an arm on pages; an arm created over REST keeps its own name."""
    return ARM_WORDS.get(arm, arm)


def finding(arm: str, control: str, look: Look | None) -> str:
    """The present conclusion, valid for any number of looks."""
    arm, control = f"“{arm_words(arm)}”", f"“{arm_words(control)}”"
    if look is None or (look.ratio["value"] is None and not look.may_stop):
        reason = "there are no messages yet" if look is None else look.ratio["reason"]
        return f"{arm} against {control}: no conclusion yet; {reason}."
    ratio = look.ratio["value"]
    if ratio is None:
        return f"{arm} differs from {control}, which has no clicks."
    words = f"{in_words(ratio)} as many clicks per message as {control}"
    if look.may_stop:
        return f"{arm} has {words}. The difference is significant, also with daily looks."
    return f"{arm} has {words} so far. The difference is not significant."


def helpful_words(language: str) -> dict[str, str]:
    """The question whether the offer helped, and its two answers."""
    return {
        "ask": translated(WAS_IT_HELPFUL, language),
        "yes": translated(YES, language),
        "no": translated(NO, language),
    }
