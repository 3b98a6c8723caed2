"""The page of a run: where it stands, what limits it, what went wrong, and how to go on."""

from datetime import timedelta
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from apps.accounts.roles import Role
from apps.debates import selectors
from apps.debates.models import Debate, Run, Turn
from apps.debates.services.driving.worker import pulse_of
from apps.debates.services.run_spec import run_spec_of
from apps.llm.traffic import LineState
from labelhub.core.llm.limiter import LimitChange
from labelhub.core.phrases import Phrase
from tests.factories.debates import Script, project_with_items, started_run
from tests.factories.llm import ModelSpecFactory
from tests.factories.projects import member_browser

pytestmark = pytest.mark.django_db


def page_of(run: Run, name: str = "run_detail", role: Role = Role.MANAGER) -> str:
    client = member_browser(run.project, role)
    return client.get(reverse(name, args=[run.project.slug, run.pk])).content.decode()


def paid_run(count: int = 3, **fields: Any) -> Run:
    """A run on a model with a price."""
    return started_run(project_with_items(count), model=ModelSpecFactory.create(), **fields)


def said(run: Run, place: int = 0, **fields: Any) -> Turn:
    """A call that the run made over its debate at ``place``."""
    role = run.roles.select_related("model", "prompt")[0]
    plain: dict[str, Any] = {
        "debate": run.debates.order_by("pk")[place],
        "step": "annotator",
        "role": role.role,
        "model": role.model,
        "prompt": role.prompt,
        "messages": [],
        "status": "ok",
    }
    turn = Turn.objects.create(**plain | fields)
    Run.objects.filter(pk=run.pk).update(turns_count=1)
    run.refresh_from_db()
    return turn


def failed(run: Run, place: int, status: int, note: str, **fields: Any) -> Turn:
    attempts = [{"http_status": status, "seconds": 1, "note": ""}] * 2
    return said(run, place, status="failed", note=note, attempts=attempts, **fields)


def test_more_debates_and_troubles_take_no_more_queries(django_assert_num_queries: Any) -> None:
    run = paid_run(30)
    for place in range(30):
        failed(run, place, 500, f"Broken {place}.")
    client = member_browser(run.project)
    # as above, and: bell, answers reused, troubled turns, parameters of the last debates
    with django_assert_num_queries(14):
        client.get(reverse("run_detail", args=[run.project.slug, run.pk]))
    with django_assert_num_queries(6):
        client.get(reverse("run_troubles", args=[run.project.slug, run.pk]))
    with django_assert_num_queries(5):
        client.get(reverse("run_progress", args=[run.project.slug, run.pk]))


def test_a_run_that_nobody_drives_says_so() -> None:
    run = paid_run()
    assert "No worker drives the run" not in page_of(run, "run_progress")
    Run.objects.update(created_at=timezone.now() - timedelta(minutes=1))
    assert "No worker drives the run" in page_of(run, "run_progress")


class Lines(Script):
    """Stands in for the gateway: one line, in the state that a test wants."""

    def __init__(self, **state: Any) -> None:
        super().__init__()
        self._state = LineState(**{"limit": 8, "in_flight": 8, "waiting": 2} | state)

    def state_of(self, _: Any) -> LineState:
        """As the gateway."""
        return self._state


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ({"limited_by": "provider rate", "rpm": 500}, "it accepts 500 calls a minute."),
        ({"limited_by": "provider rate"}, "it accepts no more calls for the moment."),
        ({"limited_by": "rate limit"}, "Rate limit. provider"),
        ({"limited_by": "concurrency setting"}, "at most 8 calls at a time."),
        ({"limited_by": "adaptive limit"}, "8 calls at a time, as many as it has accepted so far."),
        ({"breaker_open": True}, "no more calls are sent."),
        ({}, ""),
    ],
)
def test_what_a_worker_reports_of_its_lines(state: dict[str, Any], words: str) -> None:
    made = (LimitChange(1.0, 8, 6, "refusals"),)
    pulse = pulse_of(run_spec_of(paid_run()), Lines(changes=made, **state), 8)
    assert words in Phrase.of(pulse["limited_by"])
    (line,) = pulse["limits"]
    changes = [Phrase.of(change) for change in line["changes"]]
    assert (line["waiting"], changes) == (2, ["8 to 6: refusals"])


def test_troubles_are_grouped_by_cause() -> None:
    run = paid_run(5)
    for place in range(3):
        failed(run, place, 503, f"No usable answer from 'x': request req_{place}9.")
    failed(run, 3, 429, "Too many: request req_77.")
    said(run, 4, status="unparsed", off_menu="splendid", note="'splendid' is not offered.")
    first, *others = selectors.troubles(run).groups
    assert (first.status, first.count, first.http) == ("failed", 3, [(503, 6)])
    assert first.example == run.debates.order_by("pk")[2].pk
    assert {other.count for other in others} == {1}
    assert selectors.troubles(run).off_menu == (("splendid", 1),)
    page = page_of(run)
    assert "The endpoint has an error of its own." in page
    assert "The endpoint accepts no more requests." in page
    assert "The answer names none of the offered labels." in page
    assert reverse("debate_detail", args=[run.project.slug, first.example]) in page
    assert "splendid" in page


def test_a_call_that_was_answered_when_asked_again_is_told_apart() -> None:
    run = paid_run(2)
    for place in range(2):
        said(run, place, status="unparsed", note="No label.")
    said(run, 0, attempt=2)
    (group,) = selectors.troubles(run).groups
    assert (group.count, group.mended) == (2, 1)
    assert "A second try succeeded for 1 of them. The answer names none" in page_of(run)
    said(run, 1, attempt=2)
    assert "there is nothing to do" in page_of(run)


@pytest.mark.parametrize(
    ("spent", "budget", "finished", "proposed"),
    [
        (9 * 10**8, 10**9, 0, "2"),
        (8 * 10**9, 8 * 10**9, 3, "12"),
        (10 * 10**9, 9 * 10**9, 4, "10"),
        (0, 0, 0, "0.00001"),
    ],
)
def test_a_budget_is_proposed_with_which_the_run_would_likely_end(
    spent: int, budget: int, finished: int, proposed: str
) -> None:
    run = paid_run(4)
    ids = list(run.debates.values_list("pk", flat=True)[:finished])
    Debate.objects.filter(pk__in=ids).update(status="done")
    run.cost_nanousd, run.budget_nanousd = spent, budget
    assert str(selectors.budget_to_finish(run, selectors.progress(run))) == proposed


def test_what_a_model_says_in_an_error_is_never_markup() -> None:
    run = paid_run()
    failed(run, 0, 400, "<script>alert(1)</script>")
    said(run, 1, status="unparsed", off_menu="<b>")
    page = page_of(run)
    assert "<script>alert" not in page
    assert "<b>" not in page


def test_a_parameter_that_a_model_did_not_take_is_told() -> None:
    run = paid_run()
    turn = said(
        run, params_asked={"temperature": 0.7, "logprobs": True, "max_tokens": 9},
        params_effective={"max_completion_tokens": 9},
    )  # fmt: skip
    assert selectors.ignored_parameters(run) == ()
    Debate.objects.filter(pk=turn.debate_id).update(finished_at=timezone.now(), status="done")
    page = page_of(run)
    assert "uses its own temperature instead of 0.7." in page
    assert "returns no probabilities of labels." in page
    Turn.objects.update(params_effective={"temperature": 1.0, "logprobs": True})
    assert "uses temperature 1.0 instead of 0.7." in page_of(run)


def over_budget(run: Run) -> Run:
    Run.objects.update(
        status="paused", pause_code="budget", message="The budget would be passed.",
        budget_nanousd=10**9, cost_nanousd=9 * 10**8,
    )  # fmt: skip
    run.refresh_from_db()
    return run


def test_a_run_that_has_spent_its_budget_gets_more_and_goes_on() -> None:
    run = over_budget(paid_run())
    page = page_of(run)
    address = reverse("run_budget", args=[run.project.slug, run.pk])
    assert address in page
    assert 'value="2"' in page, "what the rest would cost once more, and some"
    assert address not in page_of(run, role=Role.VIEWER)
    response = member_browser(run.project).post(address, {"budget": "2.50"})
    assert response.status_code == 302
    run.refresh_from_db()
    assert (run.budget_nanousd, run.status, run.pause_code) == (25 * 10**8, "queued", "")


@pytest.mark.parametrize(
    ("budget", "words"),
    [
        ("0.5", "enter a larger amount"),
        ("", "required"),
        ("much", "Enter a number"),
        ("-1", "greater than"),
    ],
)
def test_a_budget_that_will_not_do_is_refused_at_its_field(budget: str, words: str) -> None:
    run = over_budget(paid_run())
    address = reverse("run_budget", args=[run.project.slug, run.pk])
    response = member_browser(run.project).post(address, {"budget": budget})
    page = response.content.decode()
    assert response.status_code == 422
    position = page.index('id="id_budget_error"')
    assert words in page[position : position + 300]
    run.refresh_from_db()
    assert run.status == "paused"
    followed = member_browser(run.project).get(address, {"status": "failed"})
    assert followed.headers["Location"].endswith(f"/runs/{run.pk}/?status=failed")


def test_shares_of_the_bar_add_up() -> None:
    run = paid_run(4)
    first, second, third, _ = run.debates.all()
    Debate.objects.filter(pk__in=[first.pk, second.pk]).update(status="done")
    Debate.objects.filter(pk=third.pk).update(status="failed")
    found = selectors.progress(run).parts
    assert [(status, count) for status, _, count, _, _ in found] == [
        ("done", 2), ("unparsed", 0), ("failed", 1), ("waiting", 1)
    ]  # fmt: skip
    assert [(x, width) for *_, x, width in found] == [(0, 50), (50, 0), (50, 25), (75, 25)]


def test_the_list_of_runs_asks_no_more_for_more_runs(django_assert_num_queries: Any) -> None:
    project = project_with_items(2)
    client = member_browser(project)
    address = reverse("run_list", args=[project.slug])
    for _ in range(3):
        started_run(project, "ecj")
    # session, user, bell, project by membership, count, runs, their roles, their debates' counts
    with django_assert_num_queries(9):
        assert client.get(address).status_code == 200


def test_what_limits_a_run_is_told_as_its_worker_reported_it() -> None:
    run = paid_run()
    line = {
        "provider": "Here", "limit": 8, "in_flight": 8, "waiting": 3, "words": "",
        "refused_share": 0.06, "breaker_open": False, "changes": ["8 to 6: refusals"],
    }  # fmt: skip
    pulse: dict[str, Any] = {"at": timezone.now().isoformat(), "calls": 8, "limited_by": ""}
    Run.objects.update(status="running", started_at=timezone.now(), pulse=pulse)
    unlimited = "No limit slows the run down: 8 calls under way."
    assert unlimited in page_of(run, "run_progress")
    # A worker of another version may report less, or something else.
    del line["words"], line["breaker_open"]
    Run.objects.update(pulse=pulse | {"limits": [line, "odd"]})
    part = page_of(run, "run_progress")
    assert "8 of 8 calls under way, 3 waiting, 6 % of the recent calls refused" in part
    assert "8 to 6: refusals" in part
