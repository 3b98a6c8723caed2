"""What an author was asked is nobody else's precedent: they may have it deleted at any time."""

import pytest
from django.utils import timezone

from apps.authors.services.answers import SubmittedAnswer, record_answer
from apps.authors.services.privacy import erase_author
from apps.debates.models import Turn
from apps.debates.services import run_slice
from apps.debates.services.precedents import PrecedentBook
from apps.labels.models import Gold
from apps.projects.models import Item
from tests.factories.authors import asked, author_of, shown_to, site_with_features
from tests.factories.debates import started_run

# The run is driven by threads of its own: they see only what is committed.
pytestmark = pytest.mark.django_db(transaction=True)

MARK = "zanzibarish"


@pytest.mark.thorough
@pytest.mark.parametrize("confirmed", [False, True], ids=["by the author", "by a reviewer too"])
def test_deleting_leaves_nothing_in_the_debates_of_others(confirmed: bool) -> None:
    site = site_with_features()
    texts = {"a": f"I need a {MARK} quiet laptop by Friday.", "b": "I need a cheap lamp by Monday."}
    authors = []
    for option, text in texts.items():
        author = author_of(site, f"customer-{option}")
        asked(author, text, features=["urgency"])
        submitted = SubmittedAnswer(ref="a-1", option=option)
        question = shown_to(author)
        record_answer(author, question.uid, submitted, consent=None, received=timezone.now())
        authors.append(author)
    if confirmed:
        for gold in Gold.objects.all():
            Gold.objects.create(
                item=gold.item, value=gold.value, schema=gold.schema, basis=Gold.Basis.REVIEW,
                supersedes=gold,
            )  # fmt: skip
    assert Item.objects.filter(golds__isnull=False).distinct().count() == 2

    run = started_run(site.project, "courtroom", settings={"precedents": 2})
    assert len(PrecedentBook.of_run(run)) == 0
    run_slice(run.pk)
    erase_author(authors[0])
    assert Turn.objects.exists()
    assert not any(MARK in str(row) for row in Turn.objects.values())
