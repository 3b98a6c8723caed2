"""What a page says in German is neither stored nor part of an address."""

from datetime import UTC, datetime

import pytest
from django.utils.translation import override

from apps.projects.models import SchemaChange
from apps.reviews.adjudication.docket import Voice, _contested_labels, against_words
from apps.reviews.schema_changes.services import draft_change
from apps.reviews.schema_changes.views import _stored
from labelhub.core.schema.operations import Rename
from tests.factories.reviews import new_project

NOW = datetime(2026, 11, 28, tzinfo=UTC)


@pytest.mark.django_db
def test_conflicting_labels_are_english_in_addresses() -> None:
    schema = new_project().schemas.get().parsed
    voices = [Voice(1, value, 1, "ann", "crowd", NOW, None) for value in ("bad", None)]
    with override("de"):
        against = _contested_labels(schema, voices)
        assert (against, against_words(against)) == ("bad / unsure", "bad / unsicher")


@pytest.mark.django_db
def test_the_preview_of_a_change_is_stored_in_english() -> None:
    with override("de"):
        draft = draft_change(new_project(), [Rename("good", "fine")])
        change = SchemaChange.objects.get(pk=_stored(draft).pk)
        assert change.preview["operations"][0]["words"] == "“good” is renamed “fine”"
        ((words, counts),) = change.counted_words
        assert words == "„good“ wird in „fine“ umbenannt"
        assert counts["labels"] == {}


@pytest.mark.django_db
def test_a_set_without_labels_has_words_of_the_page() -> None:
    schema = new_project().schemas.get()
    assert schema.value_words([]) == "None of these"
    with override("de"):
        assert schema.value_words([]) == "Keines davon"
