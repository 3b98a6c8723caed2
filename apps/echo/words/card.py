"""What offers say of themselves, in the languages of the widget."""

from apps.authors.words import spoken

ASK = {
    "en": "Was this helpful?",
    "de": "War das hilfreich?",
    "es": "¿Le ha sido útil?",
    "fr": "Cela vous a-t-il aidé ?",
    "ja": "役に立ちましたか？",
    "ar": "هل كان هذا مفيدًا؟",
}
YES = {"en": "Yes", "de": "Ja", "es": "Sí", "fr": "Oui", "ja": "はい", "ar": "نعم"}
NO = {"en": "No", "de": "Nein", "es": "No", "fr": "Non", "ja": "いいえ", "ar": "لا"}
#: One line below each offer.
WHY = {
    "en": "Chosen by what you wrote here.",
    "de": "Ausgewählt nach dem, was Sie hier geschrieben haben.",
    "es": "Elegido por lo que ha escrito aquí.",
    "fr": "Choisi d'après ce que vous avez écrit ici.",
    "ja": "ここに書かれた内容から選ばれました。",
    "ar": "اختير بناءً على ما كتبته هنا.",
}


def helpful_words(language: str) -> dict[str, str]:
    """The question whether it helped, and its two answers."""
    return {"ask": spoken(ASK, language), "yes": spoken(YES, language), "no": spoken(NO, language)}
