"""A question asked twice: whether its author says the same again tells how much to make of it."""

from datetime import datetime, timedelta

from apps.authors.models import Answer, Author, Message, Question
from labelhub.core.interview.limits import sampled
from labelhub.core.interview.questions import Draft, shuffled

#: Not at once, when one remembers the click, and not of a message so old that its author has it no
#: more before their eyes: the question is about that one.
AFTER, WITHIN = timedelta(minutes=5), timedelta(minutes=30)
#: Of surveys of somebody who is to be paid and of whom too little is known.
SHARE_UNPROVEN = 0.2
#: Of options by their place; they tell nothing of what is predicted.
OPTION_IDS = "abcdefgh"


def reask_for(
    message: Message, *, number: int, now: datetime, expires_at: datetime
) -> list[Question]:
    """A question that the author has answered before, as the last of a survey; mostly none.

    It is about the same message of this conversation as the first time. Its answer is compared with
    the first one and becomes no label of its own.
    """
    site = message.author.site
    draw = sampled(site.public_key, message.author.uid.hex, f"again {message.ref}")
    if draw >= reask_share(message.author) or number > site.most_questions:
        return []
    answered = (
        Answer.objects.standing()
        .filter(
            author=message.author_id,
            outcome=Answer.Outcome.ANSWER,
            question__kind=Question.Kind.CHOICE,
            question__reask_of__isnull=True,
            question__reasked_as__isnull=True,
            received_at__lt=now - AFTER,
            question__message__conversation=message.conversation_id,
            question__message__received_at__gt=now - WITHIN,
        )
        .select_related("question__feature", "question__message")
        .order_by("-pk")
        .first()
    )
    if answered is None:
        return []
    return [_again(answered.question, message, number, expires_at)]


def reask_share(author: Author) -> float:
    """How many surveys ask something again: more of those of somebody who is to be paid, until
    there is enough to judge by."""
    site = author.site
    unproven = site.reward_cents and author.verified and not author.proven
    return max(site.reask_share, SHARE_UNPROVEN) if unproven else site.reask_share


def _again(first: Question, message: Message, number: int, expires_at: datetime) -> Question:
    by_label = {option["label"]: option for option in first.options}
    again = Draft(
        first.feature.key, first.kind, first.text, tuple(by_label),
        ordinal=first.feature.parsed.ordinal,
    )  # fmt: skip
    order = shuffled(again, f"again {message.author.uid.hex} {message.ref}")
    return Question(
        site_id=first.site_id,
        author_id=first.author_id,
        message=message,
        about_ref=first.message.ref,
        feature_id=first.feature_id,
        number=number,
        kind=first.kind,
        text=first.text,
        options=[by_label[label] | {"id": OPTION_IDS[at]} for at, label in enumerate(order)],
        predicted=first.predicted,
        language=first.language,
        source=first.source,
        prompt_hash=first.prompt_hash,
        min_ms=first.min_ms,
        propensity=reask_share(message.author),
        reask_of=first,
        expires_at=expires_at,
    )
