"""What the database ends to free another transaction is begun again, and nothing else is."""

import pytest
from django.db import IntegrityError, OperationalError, connection, transaction
from psycopg.errors import DeadlockDetected
from psycopg.errors import ForeignKeyViolation as Violated

from apps.authors.services.locking import TIMES, retry_on_deadlock


class Trouble:
    """Work that fails so often, in this way, before it succeeds."""

    def __init__(self, times: int, cause: Exception) -> None:
        self.left, self.cause, self.calls = times, cause, 0

    def work(self) -> str:
        """Done at last."""
        self.calls += 1
        if self.left:
            self.left -= 1
            kind = IntegrityError if isinstance(self.cause, Violated) else OperationalError
            raise kind("ended") from self.cause
        return "done"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("cause", [DeadlockDetected(), Violated()])
def test_a_deadlock_is_tried_again_and_what_was_referred_to_meanwhile(cause: Exception) -> None:
    trouble = Trouble(TIMES - 1, cause)
    assert retry_on_deadlock(trouble.work)() == "done"
    assert trouble.calls == TIMES


@pytest.mark.django_db(transaction=True)
def test_not_for_ever() -> None:
    trouble = Trouble(TIMES, DeadlockDetected())
    with pytest.raises(OperationalError):
        retry_on_deadlock(trouble.work)()
    assert trouble.calls == TIMES


@pytest.mark.django_db(transaction=True)
def test_other_trouble_is_told_at_once() -> None:
    trouble = Trouble(1, ConnectionError())
    with pytest.raises(OperationalError):
        retry_on_deadlock(trouble.work)()
    assert trouble.calls == 1


@pytest.mark.django_db(transaction=True)
def test_inside_a_transaction_whoever_began_it_must_begin_it_again() -> None:
    trouble = Trouble(1, DeadlockDetected())
    with pytest.raises(OperationalError), transaction.atomic():
        retry_on_deadlock(trouble.work)()
    assert trouble.calls == 1
    assert not connection.in_atomic_block
