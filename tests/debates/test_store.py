"""Who drives a run: one slice at a time, from its first moment on."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone

from apps.common.jobs import LeaseLost
from apps.debates.models import Debate, Run
from apps.debates.services import resume_run
from apps.debates.services.driving.store import SliceStore, finish_run
from tests.factories.debates import project_with_items, started_run

pytestmark = pytest.mark.django_db


def store_of(run: Run, renew: Callable[[], object] = lambda: None) -> SliceStore:
    return SliceStore(Run.objects.get(pk=run.pk), timedelta(seconds=10), renew)


def test_of_two_slices_that_begin_at_once_one_drives() -> None:
    """Each would have the whole budget otherwise."""
    run = started_run(project_with_items(3))
    first, second = store_of(run), store_of(run)
    assert first.begin()
    assert not second.begin()
    first.release()
    assert second.begin()


def test_what_was_taken_to_begin_with_is_claimed_first() -> None:
    run = started_run(project_with_items(3))
    store = store_of(run)
    store.begin()
    everything = list(run.debates.order_by("pk").values_list("pk", flat=True))
    assert [claimed.pk for claimed in store.claim(2)] == everything[:2]
    assert [claimed.pk for claimed in store.claim(2)] == everything[2:]
    assert Debate.objects.filter(lease_token=store.token).count() == 3


def test_a_slice_that_stalled_does_not_claim_its_own_debates_again() -> None:
    """They are still being debated: two results of one debate would become two labels."""
    run = started_run(project_with_items(3))
    store = store_of(run)
    store.begin()
    claimed = {debate.pk for debate in store.claim(2)}
    past = timezone.now() - timedelta(seconds=1)
    run.debates.filter(lease_token=store.token).update(lease_until=past)
    assert claimed.isdisjoint(debate.pk for debate in store.claim(3))


def test_what_was_spent_since_the_run_was_read_counts() -> None:
    run = started_run(project_with_items(1))
    store = store_of(run)
    Run.objects.filter(pk=run.pk).update(cost_nanousd=100, budget_nanousd=90)
    store.begin()
    assert (store.run.cost_nanousd, store.run.budget_nanousd) == (100, 90)


def test_a_slice_whose_lease_has_lapsed_stops() -> None:
    """Another may have begun since, with the whole budget."""
    run = started_run(project_with_items(3))
    first, second = store_of(run), store_of(run)
    first.begin()
    assert first.beat({}) == Run.Status.RUNNING
    past = timezone.now() - timedelta(seconds=1)
    run.debates.filter(lease_token=first.token).update(lease_until=past)
    assert second.begin()
    second.claim(1)
    assert second.beat({}) == Run.Status.RUNNING
    assert first.beat({}) == ""


def test_a_slice_whose_job_was_taken_over_stops() -> None:
    def renew() -> None:
        raise LeaseLost("somebody else drives the run")

    store = store_of(started_run(project_with_items(1)), renew)
    store.begin()
    assert store.beat({}) == ""


def test_a_run_in_which_something_waits_again_stays_open() -> None:
    run = started_run(project_with_items(2))
    run.debates.update(status=Debate.Status.FAILED)
    Run.objects.filter(pk=run.pk).update(status=Run.Status.RUNNING)
    assert finish_run(run.pk)
    resume_run(run=Run.objects.get(pk=run.pk))
    assert not finish_run(run.pk)
    run.refresh_from_db()
    assert run.status == Run.Status.QUEUED
