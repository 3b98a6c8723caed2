"""/sites/<id>/console/: what would become of a message; nothing is stored."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from django.test import Client

from apps.authors.models import Author, Conversation, Message, Question, Site
from apps.authors.services.console import dry_run
from apps.llm.models import ModelSpec
from apps.llm.retry import Patience
from labelhub.core.llm.errors import ModelUnreachable
from labelhub.core.llm.types import Call, Completion
from tests.authors.pages.reading import page, words

pytestmark = pytest.mark.django_db
WISH = "I want to buy a quiet laptop for the train, and it must not cost too much."


def nothing_is_stored() -> bool:
    return not any(model.objects.exists() for model in (Author, Conversation, Message, Question))


def test_a_wish_shows_every_stage_and_the_questions(manager: Client, site: Site) -> None:
    response = manager.post(page(site, "console/"), {"text": WISH})
    shown = words(response)
    assert "It would be asked about" in shown
    for stage in ("Filter", "Personal data", "Sensitive topics", "Relevance", "Prediction"):
        assert stage in shown
    assert "When did you mean to buy, as you wrote this?" in shown
    assert "expected" in shown
    assert nothing_is_stored()


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


def test_the_predicted_option_is_among_those_shown(site: Site) -> None:
    for question in dry_run(site, WISH).questions:
        assert not question.options or sum(expected for _, expected in question.options) == 1
        assert question.seconds >= 5


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


def test_a_part_is_enough_where_the_page_is_there(manager: Client, site: Site) -> None:
    response = manager.post(page(site, "console/"), {"text": WISH}, headers={"HX-Request": "true"})
    assert response.status_code == 200
    assert "<html" not in response.content.decode()


@pytest.mark.parametrize("text", ["", "x" * 8001, "a\0b"])
def test_what_is_no_message_is_refused(manager: Client, site: Site, text: str) -> None:
    assert manager.post(page(site, "console/"), {"text": text}).status_code == 422


def test_markup_of_a_message_stays_text(manager: Client, site: Site) -> None:
    text = "I want <script>alert(1)</script> a tent for my trip next week"
    html = manager.post(page(site, "console/"), {"text": text}).content.decode()
    assert "<script>alert(1)" not in html


def test_members_cannot_ask_models(viewer: Client, site: Site) -> None:
    assert viewer.post(page(site, "console/"), {"text": WISH}).status_code == 403
