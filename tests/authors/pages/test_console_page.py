"""/sites/<id>/console/: what would become of a message; nothing is stored."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from django.test import Client

from apps.authors.models import Site
from apps.authors.services.console import dry_run
from apps.llm.models import ModelSpec
from apps.llm.retry import Patience
from labelhub.core.llm.errors import ModelUnreachable
from labelhub.core.llm.types import Call, Completion
from tests.authors.pages.reading import page, words

pytestmark = pytest.mark.django_db
WISH = "I want to buy a quiet laptop for the train, and it must not cost too much."


@pytest.mark.parametrize(
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
    assert "1 taken out" in shown


def test_a_model_that_cannot_be_reached_is_a_stage_too(site: Site) -> None:
    class Silent:
        async def complete(self, spec: ModelSpec, call: Call) -> Completion:
            raise ModelUnreachable(f"{spec.name} does not answer {call.step}.")

    @asynccontextmanager
    async def silent(_spec: ModelSpec, _patience: Patience) -> AsyncIterator[Silent]:
        yield Silent()

    run = dry_run(site, WISH, silent)
    assert run.dropped_at in ("relevance", "model")
    assert not run.questions


def test_markup_of_a_message_stays_text(manager: Client, site: Site) -> None:
    text = "I want <script>alert(1)</script> a tent for my trip next week"
    html = manager.post(page(site, "console/"), {"text": text}).content.decode()
    assert "<script>alert(1)" not in html
