"""/sites/<id>/console/: what would become of a message; nothing is stored."""

import pytest
from django.test import Client

from apps.authors.models import Site
from apps.authors.services.console import dry_run
from tests.authors.pages.reading import page, words
from tests.cases import all_cases

pytestmark = pytest.mark.django_db
WISH = "I want to buy a quiet laptop for the train, and it must not cost too much."


@all_cases(
    ("text", "stage", "reason"),
    [
        ("hello", "screen", "too_short"),
        ("hello there!", "relevance", "smalltalk"),
        ("Which chair helps with my depression?", "sensitive", "judged_sensitive"),
    ],
)
def test_what_is_not_asked_about_tells_where_it_ends(
    site: Site, text: str, stage: str, reason: str
) -> None:
    run = dry_run(site, text)
    assert (run.dropped_at, run.reason, list(run.questions)) == (stage, reason, [])


def test_personal_data_is_out_before_models_read_it(manager: Client, site: Site) -> None:
    shown = words(
        manager.post(page(site, "console/"), {"text": f"{WISH} Write to jo@example.org."})
    )
    assert "[e-mail]" in shown
    assert "1 removed" in shown


def test_markup_of_a_message_stays_text(manager: Client, site: Site) -> None:
    text = "I want <script>alert(1)</script> a tent for my trip next week"
    html = manager.post(page(site, "console/"), {"text": text}).content.decode()
    assert "<script>alert(1)" not in html
