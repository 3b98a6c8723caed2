"""What an answer says, and what a question expected, as values of the feature."""

from apps.authors.models import Answer, Question


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
