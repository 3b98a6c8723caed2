"""From answers to what is learnt: each counted once, in order, and made again from the log."""

import zlib
from datetime import timedelta
from importlib import import_module
from unittest.mock import Mock

import pytest
from django.apps import apps
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.authors.models import Answer, Author, Question
from apps.authors.services.privacy import erase_author
from apps.authors.services.trust import set_ruling
from apps.common.models import Job
from apps.echo import states
from apps.echo.models import Echo, LogEvent
from apps.echo.selectors.learning import is_frozen
from apps.echo.services import learning, selection
from apps.echo.services.configuration import (
    freeze,
    log_priors,
    update_echo,
)
from apps.echo.services.learning import KIND, keep_up_with, rebuild_state
from apps.echo.services.selection import known_echo
from apps.echo.states import store_state, stored_state, take_snapshot
from labelhub.core.echo.state import EchoState, unpack_model
from labelhub.core.errors import InvalidInput
from tests.factories.authors import author_of
from tests.factories.echo import TEXT, answer, ask_author, learnt_digest

pytestmark = pytest.mark.django_db

OTHER = "We need a lamp for reading by tonight, a cheap one, which would you take?"


def answered(author: Author, text: str = TEXT, option: str = "a", **fields: object) -> Answer:
    """The first question about a text, answered; the others are sent away."""
    questions = ask_author(author, text)
    first = next(question for question in questions if question.options)
    given = answer(author, first, option, **fields)
    Question.objects.filter(author=author, status__in=["waiting", "pushed", "shown"]).update(
        status="skipped"
    )
    return given


def test_an_answer_is_learnt_once_however_often_one_looks(echo: Echo, author: Author) -> None:
    answered(author)
    keep_up_with(echo)
    before = learnt_digest(echo)
    assert keep_up_with(echo) == 0
    assert learnt_digest(echo) == before
    assert echo.log.count() == 1


def test_what_can_still_be_taken_back_is_not_told_yet(echo: Echo, author: Author) -> None:
    given = answered(author)
    Answer.objects.filter(pk=given.pk).update(received_at=timezone.now())
    assert keep_up_with(echo) == 0


def test_the_state_is_what_the_log_makes(echo: Echo, author: Author) -> None:
    for text in (TEXT, OTHER, TEXT + " Please."):
        answered(author, text)
        keep_up_with(echo)
    assert rebuild_state(echo)


def test_whose_answers_stop_counting_has_taught_nothing(echo: Echo, author: Author) -> None:
    answered(author)
    keep_up_with(echo)
    before = learnt_digest(echo)
    poisoner = author_of(echo.site)
    answered(poisoner, OTHER)
    keep_up_with(echo)
    assert learnt_digest(echo) != before
    set_ruling(poisoner, trusted=False, reason="clicks without reading")
    keep_up_with(echo)
    assert learnt_digest(echo) == before
    assert rebuild_state(Echo.objects.get())


def test_what_is_withdrawn_is_forgotten_by_going_back_to_a_snapshot(
    echo: Echo, author: Author, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered(author)
    keep_up_with(echo)
    echo.refresh_from_db()
    take_snapshot(echo, stored_state(echo), echo.learnt)
    before = learnt_digest(echo)
    poisoner = author_of(echo.site)
    answered(poisoner, OTHER)
    keep_up_with(echo)
    set_ruling(poisoner, trusted=False, reason="clicks without reading")
    opened = Mock(wraps=states.snapshot_state)
    monkeypatch.setattr(learning, "snapshot_state", opened)
    keep_up_with(echo)
    assert opened.called
    assert learnt_digest(echo) == before


@pytest.mark.thorough
def test_who_is_believed_again_has_taught_again_each_time(echo: Echo, author: Author) -> None:
    answered(author)
    other = author_of(echo.site)
    answered(other, OTHER)
    keep_up_with(echo)
    both = learnt_digest(echo)
    for _ in range(2):
        set_ruling(other, trusted=False, reason="clicks without reading")
        keep_up_with(Echo.objects.get())
        assert learnt_digest(echo) != both
        set_ruling(other, trusted=True)
        keep_up_with(Echo.objects.get())
        assert learnt_digest(echo) == both
    assert rebuild_state(Echo.objects.get())
    assert keep_up_with(Echo.objects.get()) == 0


def test_an_answer_that_was_taken_back_stays_so(echo: Echo, author: Author) -> None:
    given = answered(author)
    keep_up_with(echo)
    Answer.objects.filter(pk=given.pk).update(undone_at=timezone.now())
    keep_up_with(Echo.objects.get())
    assert stored_state(Echo.objects.get()).models == {}
    assert keep_up_with(Echo.objects.get()) == 0
    assert echo.log.count() == 2


def test_of_many_models_and_authors_those_are_read_that_the_news_are_about(
    echo: Echo, author: Author, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered(author)
    keep_up_with(echo)
    echo.refresh_from_db()
    whole = stored_state(echo)
    (model,), (trust,) = whole.models.values(), whole.trusts.values()
    whole.models |= {f"other_{number}": model for number in range(60)}
    whole.trusts |= {f"author {number}": trust for number in range(60)}
    store_state(echo, whole, echo.learnt)
    answered(author, OTHER)
    read = Mock(wraps=unpack_model)
    monkeypatch.setattr(states, "unpack_model", read)
    assert keep_up_with(Echo.objects.get()) == 1
    assert read.call_count <= 1
    learnt = stored_state(Echo.objects.get())
    assert learnt.models.keys() >= whole.models.keys()
    assert learnt.trusts.keys() == whole.trusts.keys()


def test_who_is_not_trusted_moves_nothing(echo: Echo, author: Author) -> None:
    set_ruling(author, trusted=False, reason="clicks without reading")
    answered(author)
    assert keep_up_with(echo) == 0
    assert stored_state(Echo.objects.get()).features == []


def test_whose_data_was_deleted_has_taught_nothing(echo: Echo, author: Author) -> None:
    answered(author)
    keep_up_with(echo)
    before = learnt_digest(echo)
    other = author_of(echo.site)
    answered(other, OTHER)
    keep_up_with(echo)
    erase_author(other)
    keep_up_with(Echo.objects.get())
    echo.refresh_from_db()
    assert learnt_digest(echo) == before
    assert not echo.erased
    assert not LogEvent.objects.filter(echo=echo, author__isnull=True, kind="answered").exists()


def test_whose_data_is_deleted_while_the_state_is_made_anew_has_taught_nothing(
    echo: Echo, author: Author, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = [author_of(echo.site), author_of(echo.site)]
    for person in (author, *others):
        answered(person)
    keep_up_with(echo)
    erase_author(others[0])

    def store_late(echo: Echo, state: EchoState, number: int, *, whole: bool) -> None:
        erase_author(others[1])
        store_state(echo, state, number, whole=whole)

    later = Mock(side_effect=store_late)
    monkeypatch.setattr(learning, "store_state", later)
    keep_up_with(Echo.objects.get())
    assert later.called
    monkeypatch.undo()
    keep_up_with(Echo.objects.get())
    assert set(stored_state(Echo.objects.get()).trusts) == {author.uid.hex}
    assert rebuild_state(Echo.objects.get())


def test_while_it_is_frozen_it_learns_nothing_and_afterwards_again(
    echo: Echo, author: Author
) -> None:
    freeze(echo, on=True)
    assert is_frozen(echo)
    answered(author)
    keep_up_with(echo)
    assert stored_state(Echo.objects.get()).models == {}
    freeze(echo, on=False)
    answered(author, OTHER)
    keep_up_with(echo)
    assert len(stored_state(Echo.objects.get()).models) == 1
    assert rebuild_state(Echo.objects.get())


def test_a_damaged_line_of_the_log_is_named_and_passed_over_and_learning_goes_on(
    echo: Echo, author: Author, caplog: pytest.LogCaptureFixture
) -> None:
    for text in (TEXT, OTHER):
        answered(author, text)
        keep_up_with(echo)
    echo.refresh_from_db()
    first, second = echo.log.order_by("number")
    LogEvent.objects.filter(pk=first.pk).update(data=first.data | {"signs": [1.0]})
    controls = {"withdrawn": {"about": 3}, "frozen": {}}
    for number, (kind, data) in enumerate(controls.items(), start=3):
        LogEvent.objects.create(echo=echo, number=number, ref=kind, kind=kind, data=data)
    Echo.objects.update(erased=1, logged=4)
    echo.refresh_from_db()
    assert keep_up_with(echo) == 1
    echo.refresh_from_db()
    assert echo.learnt == 4
    assert rebuild_state(echo)
    assert list(stored_state(echo).models) == [second.feature]
    assert f"event {first.number} of the log" in caplog.text
    assert first.ref in caplog.text


@pytest.mark.parametrize("packed", [b"", b"damaged", b"\x04\x00\x00\x00null", b"\x01\x00\x00\x001"])
def test_a_state_that_cannot_be_read_is_made_anew_and_asking_goes_on_meanwhile(
    echo: Echo, author: Author, packed: bytes
) -> None:
    answered(author)
    keep_up_with(echo)
    before = learnt_digest(echo)
    echo.models.update(packed=packed)
    selection.forget_known(echo.site_id)
    assert known_echo(echo.site).state.models == {}
    assert ask_author(author, OTHER)
    keep_up_with(Echo.objects.get())
    echo.refresh_from_db()
    assert (learnt_digest(echo), echo.erased) == (before, 0)
    assert rebuild_state(echo)


def test_events_that_were_rolled_back_are_learnt_again_after_the_migration(
    echo: Echo, author: Author
) -> None:
    answered(author)
    keep_up_with(echo)
    before = learnt_digest(echo)
    states.store_state(echo, EchoState(), 1)
    LogEvent.objects.create(echo=echo, number=2, ref="back", kind="rolled_back", data={"to": 0})
    Echo.objects.update(logged=2, learnt=2)
    import_module("apps.echo.migrations.0002_no_roll_back").forget_roll_backs(apps, None)
    keep_up_with(Echo.objects.get())
    assert learnt_digest(echo) == before
    assert echo.log.count() == 1


def test_searches_for_instructions_under_way_end_with_the_migration(echo: Echo) -> None:
    for kind in ("echo.search", KIND):
        Job.objects.create(kind=kind, subject=echo.pk)
    import_module("apps.echo.migrations.0006_no_prompt_search").forget_jobs(apps, None)
    assert list(Job.objects.values_list("kind", flat=True)) == [KIND]


def test_a_snapshot_that_cannot_be_read_is_passed_over(echo: Echo, author: Author) -> None:
    answered(author)
    keep_up_with(echo)
    echo.refresh_from_db()
    kept = take_snapshot(echo, stored_state(echo), echo.learnt)
    for packed in (b"damaged", zlib.compress(b"{}"), zlib.compress(b"[]")):
        kept.packed = packed
        with pytest.raises(InvalidInput, match="cannot be read"):
            states.snapshot_state(kept)


def test_no_statement_is_open_while_the_log_is_learnt_from(
    echo: Echo, author: Author, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered(author)
    keep_up_with(echo)
    monkeypatch.setattr(learning, "AT_ONCE", 1)
    with CaptureQueriesContext(connection) as queries:
        assert rebuild_state(echo)
    pages = [
        query["sql"]
        for query in queries
        if query["sql"].endswith("LIMIT 1") and 'FROM "echo_logevent"' in query["sql"]
    ]
    assert len(pages) == echo.log.count() + 1


def test_of_two_who_learn_at_once_one_does(echo: Echo, author: Author) -> None:
    answered(author)
    held = Job.objects.create(
        kind=KIND, subject=echo.pk, lease_until=timezone.now() + timedelta(seconds=30)
    )
    assert keep_up_with(echo) == 0
    held.delete()
    assert keep_up_with(echo) == 1


def test_what_the_owner_expects_is_told_once_for_each_change(echo: Echo) -> None:
    feature = echo.site.features.first()
    assert feature is not None
    feature.definition = {**feature.definition, "prior": 1.0}
    feature.save()
    assert log_priors(echo) == 1
    assert log_priors(echo) == 0
    keep_up_with(echo)
    state = stored_state(Echo.objects.get())
    assert state.relevance.matters[state.places[feature.key]] > 0.7


@pytest.mark.parametrize(("field", "value"), [("k", 0), ("explore", 1.5), ("burden", -1)])
def test_settings_out_of_range_are_refused_by_name(echo: Echo, field: str, value: float) -> None:
    with pytest.raises(InvalidInput) as refused:
        update_echo(echo, **{field: value})
    assert field in str(refused.value.data)
