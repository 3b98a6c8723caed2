"""Answers as they come in, with time moved where it must pass."""

from datetime import timedelta

from django.utils import timezone

from apps.authors.models import Answer, Author, Reward, Site
from apps.authors.services.answers import SubmittedAnswer, record_answer
from tests.factories.authors import asked, author_of, shown_to


def answered(site: Site, subject: str, *, due: bool = False) -> Answer:
    """The first option of a question, by somebody whom the host knows; with ``due`` what it earned
    can be paid."""
    author = author_of(site, subject)
    asked(author, features=["urgency"])
    question = shown_to(author)
    sent = SubmittedAnswer(ref=f"answer to {question.pk}", option="a")
    consent = author.consents.first()
    answer = record_answer(author, question.uid, sent, consent=consent, received=timezone.now())
    if due:
        past = timezone.now() - timedelta(days=1)
        Reward.objects.filter(answer=answer).update(due_at=past)
        Author.objects.filter(pk=author.pk).update(proven=True)
    return answer
