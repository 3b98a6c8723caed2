"""Values of features: what an answer says, what a question expected, and how people read them."""

from apps.authors.models import Answer, Question
from labelhub.core.interview.features import Feature as Definition
from labelhub.core.interview.features import derived_words


def value_of(answer: Answer) -> str:
    """What was said, as one of the feature's values where it has a closed space; "" where the
    author found that none of the options fits."""
    if answer.outcome == Answer.Outcome.NOFIT:
        return ""
    if answer.position is None:
        return answer.value
    option = answer.question.options[answer.position]
    return str(option.get("value") or answer.value)


def predicted_value_of(question: Question) -> str:
    """What was expected, as one of the feature's values where it has a closed space: a question
    keeps it in the words of its option."""
    values = (each.get("value") for each in question.options if each["label"] == question.predicted)
    return str(next(values, "") or question.predicted)


def value_words(feature: Definition | None, value: str) -> str:
    """The words of its English option where there is one; free text stays as it is."""
    if feature is None or value not in feature.values:
        return value
    ready = feature.template("en")
    options = (ready.options if ready else None) or derived_words(feature, "en")
    return options.get(value) or value.replace("_", " ")
