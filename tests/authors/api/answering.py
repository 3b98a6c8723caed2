"""Answers as they come in, with time moved where it must pass."""

from datetime import timedelta

from django.utils import timezone

from apps.authors.models import Answer, Author, Reward, Site
from tests.factories.authors import answered_by, author_of


def answered(site: Site, subject: str, *, due: bool = False) -> Answer:
    """The first option of a question, by somebody whom the host knows; with ``due`` what it earned
    can be paid."""
    author = author_of(site, subject)
    answer = answered_by(author).answers.get()
    if due:
        past = timezone.now() - timedelta(days=1)
        Reward.objects.filter(answer=answer).update(due_at=past)
        Author.objects.filter(pk=author.pk).update(proven=True)
    return answer
