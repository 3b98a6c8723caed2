"""What the first message after a start would wait for is loaded ahead, where anybody could wait."""

from unittest.mock import patch

import pytest

from apps.authors import tasks
from apps.authors.services import messages
from apps.authors.services.message_lease import prompts
from apps.authors.tasks import warm_up
from labelhub.core.interview.language import detect_language
from tests.factories.authors import site_with_features

pytestmark = pytest.mark.django_db


def test_prompts_are_read_where_there_is_a_site() -> None:
    site_with_features()
    prompts.cache_clear()
    with patch.object(tasks, "screen_text", wraps=messages.screen_text) as screened:
        warm_up()
    assert screened.call_count == 1
    assert prompts.cache_info().currsize == 1
    assert detect_language("Ich suche eine Lampe", ["de", "en"], "en") == "de"


def test_nothing_is_loaded_where_nobody_could_wait() -> None:
    site_with_features(enabled=False)
    with patch.object(tasks, "screen_text") as screened:
        warm_up()
    assert not screened.called
