"""Words about offers: reasons, arms and findings on pages, and what an offer asks its author."""

from collections.abc import Mapping

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django_stubs_ext import StrOrPromise

from apps.authors.translations import translated
from apps.common.figures import localise
from apps.common.methods import method_words
from labelhub.core.echo.experiments.click_through import percent_change
from labelhub.core.echo.experiments.looks import Look
from labelhub.core.echo.recommending.policies import Why

#: The reasons for decisions.
WHY_WORDS: Mapping[str, StrOrPromise] = {
    Why.GOOD_MATCH: _("Good match"),
    Why.EXPLORING: _("At random, to learn from it"),
    Why.SENSITIVE: _("Sensitive topic"),
    Why.TOO_FEW_MESSAGES: _("Too few messages since the last offer"),
    Why.TOO_SOON: _("Too soon after the last offer"),
    Why.NO_MATCH: _("No item of the catalogue fits"),
    Why.SHOWN_BEFORE: _("The fitting items were offered recently"),
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
#: An arm with the policy of Echo, which tests assignment and counting.
AGAIN = "echo_again"
ARM_WORDS: Mapping[str, StrOrPromise] = {**POLICY_WORDS, AGAIN: _("Echo once more")}
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
    return str(WHY_WORDS.get(why, why.replace("_", " ")))


def policy_words(policy: str) -> str:
    """What an arm does, in words."""
    return str(POLICY_DOES.get(policy, policy))


def arm_words(arm: str) -> str:
    """The name of an arm on pages; an arm created over REST keeps its own name."""
    return str(ARM_WORDS.get(arm, arm))


def finding(arm: str, control: str, look: Look | None) -> str:
    """The present conclusion, valid for any number of looks."""
    names = {"arm": arm_words(arm), "control": arm_words(control)}
    if look is None:
        return gettext("“%(arm)s” against “%(control)s”: there are no messages yet.") % names
    ratio = look.ratio["value"]
    if ratio is None and not look.may_stop:
        reason = {"reason": method_words(look.ratio["reason"])}
        words = gettext("“%(arm)s” against “%(control)s”: no conclusion yet; %(reason)s.")
        return words % (names | reason)
    if ratio is None:
        return gettext("“%(arm)s” differs from “%(control)s”, which has no clicks.") % names
    words = gettext("“%(arm)s” has %(ratio)s as many clicks per message as “%(control)s”.") % (
        names | {"ratio": _ratio_words(ratio)}
    )
    if look.may_stop:
        return f"{words} {gettext('The difference is significant, also with daily looks.')}"
    return f"{words} {gettext('The difference is not significant so far.')}"


def _ratio_words(ratio: float) -> str:
    return gettext("%(ratio)s times (%(change)s %%)") % {
        "ratio": localise(f"{ratio:.2f}"),
        "change": f"{percent_change(ratio):+.0f}",
    }


def helpful_words(language: str) -> dict[str, str]:
    """The question whether the offer helped, and its two answers."""
    return {
        "ask": translated(WAS_IT_HELPFUL, language),
        "yes": translated(YES, language),
        "no": translated(NO, language),
    }
