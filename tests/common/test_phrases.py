"""Texts for people are made in one process and read in the reader's language elsewhere."""

import copy
import json
from collections.abc import Callable
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.template import Context, Template
from django.utils import translation

from apps.authors.services.features import import_features, parse_rows
from apps.debates.models import Run
from apps.exchange.file_head import read_head
from apps.exchange.values import ImportSchema
from apps.exchange.webhooks.transport import check_url, refusal_message
from apps.reviews.search.query import read_query
from labelhub.core.errors import InvalidInput
from labelhub.core.phrases import Phrase, join_sentences
from labelhub.core.schema import schema_from_names
from tests.factories.authors import site_with_features
from tests.factories.debates import project_with_items, started_run

ROWS = Phrase(
    "Read %(count)s row: %(parts)s.",
    "Read %(count)s rows: %(parts)s.",
    count=1200,
    parts=[Phrase("%(number)s created", number=1200), Phrase("in vain"), "the file's own words"],
)
PRICE = Phrase("%(amount)s USD", amount=Decimal("1200.50"))


@pytest.fixture
def german(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Translations of the texts of this test, independent of the catalogues."""
    words = {
        "Read %(count)s rows: %(parts)s.": "%(count)s Zeilen gelesen: %(parts)s.",
        "%(number)s created": "%(number)s angelegt",
        "Paused by hand.": "Von Hand angehalten.",
        "in vain": "vergeblich",
    }
    module = import_module("apps.common.phrases")
    monkeypatch.setattr(module, "gettext", lambda text: words.get(text, text))
    monkeypatch.setattr(
        module,
        "ngettext",
        lambda single, many, count: words.get(many, many if count > 1 else single),
    )
    with translation.override("de"):
        yield


def test_programs_read_english(german: None) -> None:
    assert ROWS == "Read 1,200 rows: 1,200 created, in vain, the file's own words."
    assert json.loads(json.dumps({"message": ROWS}))["message"] == ROWS
    assert PRICE == "1,200.50 USD"


def test_people_read_their_language(german: None) -> None:
    words = "1.200 Zeilen gelesen: 1.200 angelegt, vergeblich, the file&#x27;s own words."
    shown = Template("{{ message }}|{{ message|truncatechars:13 }}").render(
        Context({"message": ROWS})
    )
    assert shown == f"{words}|1.200 Zeilen…"
    assert str(join_sentences(ROWS, "", Phrase("Paused by hand."))).endswith("Von Hand angehalten.")


@pytest.mark.parametrize("phrase", [ROWS, Phrase("100 % sure"), Phrase(""), PRICE])
def test_a_phrase_survives_storage_and_copies(german: None, phrase: Phrase) -> None:
    again = [Phrase.of(json.loads(json.dumps(phrase.data()))), Phrase.read(phrase.stored())]
    for other in [*again, copy.deepcopy(phrase)]:
        assert (other, other.pattern, other.values) == (phrase, phrase.pattern, phrase.values)
        assert str(other) == str(phrase)


def test_faults_in_the_preview_of_a_file_speak_the_language_of_the_page(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(Phrase, "printer", lambda phrase: f"<{str.__str__(phrase)}>")
    path = tmp_path / "spans.jsonl"
    path.write_text('{"text": "Loud", "entities": [[0, 4]]}\n')
    schema = ImportSchema.of(schema_from_names("single", ["good", "bad"]), {})
    head = read_head(path, "jsonl", schema, patience=10)
    assert head.rows[0][2] == "entities[0]: <A span is [start, end, label].>"


TOO_WIDE = b"key,name,definition\na,b,c,d"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("check", "pattern"),
    [
        (
            lambda _: read_query({"uncertainty_min": "0.5", "uncertainty_max": "0.1"}),
            "Must not be below %(low)s.",
        ),
        (
            lambda site: import_features(site=site, name="x.csv", data=TOO_WIDE),
            "has %(cells)s cells, the header %(columns)s; quote cells with commas.",
        ),
        (lambda _: check_url("http://[::]/"), refusal_message("::").pattern),
    ],
)
def test_faults_can_be_translated(check: Callable[[Any], Any], pattern: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        check(site_with_features())
    [fault] = caught.value.data["errors"]
    assert fault["message"].pattern == pattern


def test_all_rows_with_faults_are_counted_in_words_that_can_be_translated() -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_rows([{}, {}])
    assert caught.value.message.endswith("2 rows have errors; nothing is changed.")
    fault, rows = caught.value.message.values.values()
    assert (fault.pattern, rows.values) == ("%(field)s: %(message)s", {"number": 2})


def test_a_pattern_that_was_changed_since_stays_english(german: None) -> None:
    assert str(Phrase("Gone: %(name)s", name="x")) == "Gone: x"


def test_errors_speak_the_language_of_the_page(german: None) -> None:
    error = InvalidInput.at("rows", ROWS)
    assert error.message.startswith("rows: Read 1,200")
    assert str(error).startswith("rows: 1.200 Zeilen gelesen")
    assert str(error.data["errors"][0]["message"]).startswith("1.200 Zeilen")


@pytest.mark.django_db
def test_messages_of_before_are_shown_as_they_are(german: None) -> None:
    run = run_with("Paused by hand.")
    assert str(run.message) == "Von Hand angehalten."
    Run.objects.update(message='{"text": "no phrase"} 100% %(odd)s')
    run.refresh_from_db()
    assert str(run.message) == '{"text": "no phrase"} 100% %(odd)s'


LIKE_A_PHRASE = [
    '{"phrase": ',
    '{"phrase": 3}',
    '{"phrase": "a", "plural": "b", "values": {}}',
    '{"phrase": "%(x)s", "plural": "", "values": {"y": 1}}',
    '{"phrase": "%(x)d", "plural": "", "values": {"x": "1"}}',
    '{"phrase": "%(x)s", "plural": "", "values": {"x": [{"y": 1}]}}',
    '{"phrase": "%(x)s", "plural": "", "values": []}',
    '{"phrase": ' + "[" * 100_000,
]


@pytest.mark.parametrize("words", LIKE_A_PHRASE)
def test_a_stored_text_that_only_begins_like_a_phrase_is_shown(words: str) -> None:
    assert str(Phrase.read(words)) == words


@pytest.mark.django_db
@pytest.mark.parametrize("words", [*LIKE_A_PHRASE, Phrase("Stopped %(x)s.", x="1").stored()])
def test_what_people_write_is_no_phrase(words: str) -> None:
    run = run_with(words)
    assert str(run.message) == words
    run.save()
    run.refresh_from_db()
    assert str(run.message) == words


def run_with(message: str) -> Run:
    run = started_run(project_with_items(1))
    Run.objects.filter(pk=run.pk).update(message=message)
    run.refresh_from_db()
    return run


def stored_message(run: Run) -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT message FROM debates_run WHERE id = %s", [run.pk])
        return str(cursor.fetchone()[0])


@pytest.mark.django_db(transaction=True)
def test_the_migration_writes_english_backwards() -> None:
    phrase, plain = run_with(ROWS), run_with("Stopped.")
    assert stored_message(phrase).startswith('{"phrase": ')
    try:
        MigrationExecutor(connection).migrate([("debates", "0004_annotator_names")])
        assert (stored_message(phrase), stored_message(plain)) == (ROWS, "Stopped.")
    finally:
        executor = MigrationExecutor(connection)
        executor.migrate(executor.loader.graph.leaf_nodes())
    phrase.refresh_from_db()
    assert phrase.message == ROWS
