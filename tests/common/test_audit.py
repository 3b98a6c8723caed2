"""The audit log: what an entry holds, what the database refuses, and what the chain shows."""

from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import DatabaseError, connection, transaction
from django.test import RequestFactory
from django.utils import timezone

from apps.accounts.models import User
from apps.common.audit import (
    Action,
    BrokenChain,
    acting,
    address_of,
    chain_head,
    check_chain,
    cut_log,
    erase_person,
    record,
    seal_entries,
)
from apps.common.models import AuditCut, AuditEntry, AuditPerson
from tests.conftest import without_triggers
from tests.factories.accounts import UserFactory
from tests.factories.projects import ProjectFactory
from tests.fakes.log_lines import printed_lines
from tests.threads import at_once

pytestmark = pytest.mark.django_db


def fill(count: int, **fields: Any) -> list[AuditEntry]:
    """So many entries in the chain."""
    user = UserFactory.create()
    for _ in range(count):
        with transaction.atomic():
            record(Action.PROJECT_CHANGED, user, actor=user, **fields)
    seal_entries()
    return list(AuditEntry.objects.order_by("number"))


def test_an_entry_names_who_did_what_to_what_from_where() -> None:
    user, project = UserFactory.create(username="ada"), ProjectFactory.create(slug="hotel")
    request = RequestFactory(REMOTE_ADDR="192.0.2.7").post("/")
    request.user = user
    with acting(request), transaction.atomic():
        record(Action.PROJECT_CHANGED, project, changes={"name": ("a", "b" * 300)})
    entry = AuditEntry.objects.get()
    assert entry.actor is not None
    assert (entry.actor.name, entry.actor.user_id) == ("ada", user.pk)
    assert (entry.action, entry.project, entry.project_id) == (
        "project.changed", "hotel", project.pk,
    )  # fmt: skip
    assert (entry.subject_type, entry.subject_id) == ("project", str(project.pk))
    assert entry.changes == {"name": ["a", "b" * 200]}
    assert address_of(entry) == "192.0.2.7"
    assert "192.0.2.7" not in entry.address


def test_nothing_is_recorded_without_the_transaction_of_the_change() -> None:
    with pytest.raises(RuntimeError, match="needs the transaction"):
        record(Action.PROJECT_CHANGED)


def test_what_is_rolled_back_is_not_recorded() -> None:
    with transaction.atomic():
        record(Action.PROJECT_CHANGED)
        transaction.set_rollback(True)
    assert not AuditEntry.objects.exists()


def test_the_database_refuses_changes_and_deletions() -> None:
    first, _ = fill(2)
    rows = AuditEntry.objects.filter(pk=first.pk)
    attempts: dict[str, Any] = {
        "content": lambda: rows.update(action="other"),
        "hash": lambda: rows.update(hash="0" * 64),
        "number": lambda: rows.update(number=None),
        "deletion": rows.delete,
        "cuts": lambda: (AuditCut.objects.create(number=0, hash="", at=timezone.now()),
                         AuditCut.objects.update(number=9)),
    }  # fmt: skip
    allowed = []
    for name, attempt in attempts.items():
        try:
            with transaction.atomic():
                attempt()
        except DatabaseError as error:
            assert "append-only" in str(error), name  # noqa: PT017 - one table of cases
        else:
            allowed.append(name)
    assert allowed == []


def test_an_entry_that_is_not_in_the_chain_yet_cannot_be_changed_either() -> None:
    with transaction.atomic():
        record(Action.PROJECT_CHANGED)
    for attempt in (
        lambda: AuditEntry.objects.update(action="other"),
        lambda: AuditEntry.objects.all().delete(),
    ):
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
            attempt()


def tamper(sql: str) -> None:
    """Change the log as the owner of the database can."""
    events = ("UPDATE", "DELETE")
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # else its checks are pending
            cursor.execute("ALTER TABLE common_auditentry DISABLE TRIGGER USER")
            cursor.execute(sql)
            cursor.execute("ALTER TABLE common_auditentry ENABLE TRIGGER USER")
            return
        with without_triggers(events[0]), without_triggers(events[1]):
            cursor.execute(sql)


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("UPDATE common_auditentry SET via = 'x' WHERE number = 3", "Entry 3 was changed"),
        ("UPDATE common_auditentry SET changes = '{}' WHERE number = 2", "Entry 2 was changed"),
        ("UPDATE common_auditentry SET hash = 'x' WHERE number = 4", "Entry 4 was changed"),
        ("UPDATE common_auditentry SET at = '2020-01-01' WHERE number = 1", "Entry 1 was changed"),
        ("DELETE FROM common_auditentry WHERE number = 1", "Entry 1 is missing"),
        ("DELETE FROM common_auditentry WHERE number = 3", "Entry 3 is missing"),
        ("UPDATE common_auditperson SET name = 'x'", "A name in entry 1 was changed"),
        ("UPDATE common_auditperson SET digest = 'x'", "Entry 1 was changed"),
    ],
)
def test_the_check_names_the_first_entry_that_was_tampered_with(sql: str, words: str) -> None:
    fill(5, changes={"overlap": (1, 2)})
    assert check_chain()[0] == 5
    tamper(sql)
    with printed_lines() as lines, pytest.raises(CommandError, match=words):
        call_command("check_audit")
    (line,) = lines.json("labelhub.security", "The audit log is broken")
    assert (line["level"], words in line["exception"]) == ("error", True)


def test_a_noted_head_shows_that_the_end_was_cut_off_or_rewritten() -> None:
    fill(5)
    noted = str(chain_head())
    assert check_chain(noted)[0] == 5
    tamper("DELETE FROM common_auditentry WHERE number > 3")
    assert check_chain()[0] == 3
    with pytest.raises(BrokenChain, match="ends with entry 3, before the noted head"):
        check_chain(noted)
    fill(2)
    with pytest.raises(BrokenChain, match="is not in the log"):
        check_chain(noted)
    with pytest.raises(BrokenChain, match="is not a head"):
        check_chain("no head")


def test_the_chain_goes_on_after_the_beginning_was_cut_off() -> None:
    entries = fill(7)
    noted = str(chain_head())
    assert cut_log(entries[4].at, most=3) == 3
    assert cut_log(entries[4].at) == 1
    assert cut_log(entries[4].at) == 0
    seal_entries()
    assert check_chain(noted)[0] == 3 + 2
    assert AuditEntry.objects.filter(action=Action.LOG_CUT).count() == 2
    assert AuditPerson.objects.count() == 1


def test_everything_may_be_cut_and_the_chain_goes_on() -> None:
    fill(3)
    assert cut_log(timezone.now() + timedelta(days=1)) == 3
    assert AuditPerson.objects.count() == 0
    fill(2)
    assert check_chain()[0] == 3


def test_a_cut_that_no_entry_confirms_is_found_out() -> None:
    entries = fill(3)
    AuditCut.objects.create(number=2, hash=entries[1].hash, at=timezone.now())
    AuditEntry.objects.filter(number__lte=2).delete()
    with pytest.raises(BrokenChain, match="no entry says so"):
        check_chain()


def test_an_erased_person_has_neither_name_nor_address_and_the_chain_stays_valid() -> None:
    user = UserFactory.create(username="ada")
    request = RequestFactory(REMOTE_ADDR="192.0.2.7").post("/")
    request.user = user
    with acting(request), transaction.atomic():
        record(Action.PROJECT_CHANGED, user)
    seal_entries()
    erase_person(user.pk, "former annotator 12")
    entry = AuditEntry.objects.get()
    assert (str(entry.actor), str(entry.subject_person)) == ("former annotator 12",) * 2
    assert address_of(entry) == ""
    assert check_chain()[0] == 1
    stored = str(list(AuditEntry.objects.values())) + str(list(AuditPerson.objects.values()))
    assert "ada" not in stored
    assert "192.0.2.7" not in stored


def test_a_person_is_named_as_they_were_called_then() -> None:
    user = UserFactory.create(username="ada")
    for name in ("ada", "ada.lovelace", "ada"):
        User.objects.filter(pk=user.pk).update(username=name)
        user.refresh_from_db()
        with transaction.atomic():
            record(Action.USER_CHANGED, user)
    named = AuditEntry.objects.order_by("pk").values_list("subject_person__name", flat=True)
    assert list(named) == ["ada", "ada.lovelace", "ada"]
    assert AuditPerson.objects.count() == 2


@pytest.mark.django_db(transaction=True)
def test_writers_and_chaining_at_once_make_one_chain() -> None:
    user = UserFactory.create()

    def write(number: int) -> None:
        for _ in range(10):
            with transaction.atomic():
                record(Action.PROJECT_CHANGED, user, actor=user, changes={"n": (None, number)})
            seal_entries()

    at_once(write, 4)
    seal_entries()
    numbers = AuditEntry.objects.order_by("number").values_list("number", flat=True)
    assert list(numbers) == list(range(1, 41))
    assert check_chain()[0] == 40
    assert AuditPerson.objects.count() == 1


def test_the_command_adds_what_waits_and_prints_the_head(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with transaction.atomic():
        record(Action.PROJECT_CHANGED)
    call_command("check_audit")
    assert f"Head: {chain_head()}" in capsys.readouterr().out
    assert chain_head().number == 1
