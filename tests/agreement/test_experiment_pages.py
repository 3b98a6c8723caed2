"""The pages of experiments: set up, watched, compared, read, used."""

import re
from typing import Any

import pytest
from django.urls import reverse

from apps.accounts.roles import Role
from apps.debates.models import Experiment, Run
from apps.llm.services import ensure_builtin
from tests.agreement.test_experiment_report import FAILED, Trial, trial_of
from tests.factories.labels import queued_items
from tests.factories.projects import member_browser

pytestmark = pytest.mark.django_db

HOSTILE = "<script>alert(1)</script>"


def at(trial: Trial, name: str, *more: int) -> str:
    return reverse(name, args=[trial.project.slug, trial.experiment.pk, *more])


def compared() -> Trial:
    """Three arms on five items, one of them with an overruled critic."""
    trial = trial_of(["good"] * 5)
    trial.arm("single", ["good", "good", "bad", "bad", "bad"])
    flips = {"extractor": [], "critic": ["good"]}
    signals = [{"first": "bad", "flips": flips}] + [{"first": "good", "flips": {}}] * 4
    trial.arm("ecj", ["good", "good", "good", "bad", "bad"], signals, calls=3)
    votes = [{"first": "good", "votes": [["good", 3]], "d_rate": 1.0}] * 5
    trial.arm("self_consistency", ["good"] * 5, votes, settings={"samples": 3}, calls=3)
    return trial


def test_an_experiment_is_previewed_and_started(sent: list[int]) -> None:
    trial = trial_of(["good"] * 3)
    client, slug = member_browser(trial.project), trial.project.slug
    form: dict[str, Any] = {
        "title": "Which?",
        "models": [ensure_builtin().pk],
        "replicates": 2,
        "arm_single": "on",
        "arm_discussion": "on",
        "set_discussion_rounds": 1,
        "equal_budget": "on",
    }
    shown = client.get(reverse("experiment_preview", args=[slug]), form).content.decode()
    assert "Discussion (rounds of discussion: 1)" in shown
    assert "vote of equal budget" in shown
    assert "Few verified items" in shown
    answer = client.post(reverse("experiment_create", args=[slug]), form)
    made = Experiment.objects.exclude(pk=trial.experiment.pk).get()
    assert answer.headers["Location"] == reverse("experiment_detail", args=[slug, made.pk])
    runs = list(made.runs.order_by("pk"))
    assert [run.protocol for run in runs] == ["single", "discussion", "self_consistency"]
    assert [run.protocol_settings.get("samples") for run in runs] == [None, None, 6]
    assert {run.replicates for run in runs} == {2}
    assert sorted(sent) == [run.pk for run in runs]


def test_an_experiment_under_way_polls_and_then_shows_the_comparison() -> None:
    trial = compared()
    run = trial.runs[0]
    Run.objects.filter(pk=run.pk).update(status=Run.Status.RUNNING)
    client = member_browser(trial.project, Role.VIEWER)
    page = client.get(at(trial, "experiment_detail")).content.decode()
    assert 'hx-trigger="every 2s"' in page
    assert "Set-ups compared" not in page
    part = client.get(at(trial, "experiment_progress"))
    assert "Debates finished" in part.content.decode()
    Run.objects.filter(pk=run.pk).update(status=Run.Status.DONE)
    assert client.get(at(trial, "experiment_progress")).headers["HX-Refresh"] == "true"
    assert "Set-ups compared" in client.get(at(trial, "experiment_detail")).content.decode()


def test_set_ups_that_have_labelled_nothing_are_not_compared_and_say_why_once() -> None:
    trial = trial_of(["good"] * 2)
    for name in ("single", "ecj"):
        run = trial.arm(name, [FAILED] * 2)
        Run.objects.filter(pk=run.pk).update(status=Run.Status.PAUSED, message="No connection.")

    page = member_browser(trial.project).get(at(trial, "experiment_detail")).content.decode()

    assert "Nothing to compare yet" in page
    assert "2 set-ups have not finished" in page
    assert page.count("No connection.") == 1
    assert "Set-ups compared" not in page


def test_the_comparison_has_everything_and_leads_to_debates() -> None:
    trial = compared()
    page = member_browser(trial.project).get(at(trial, "experiment_detail")).content.decode()
    for words in (
        "No set-up is significantly better than A (Single annotator)",
        "vote of equal budget for B",
        "Any two on the same items",
        "Cost against quality",
        "The critic was overruled",
        "Who changed their mind, and for the better?",
        "How far those who vote agree",
        "Predicted yes, gold no",
    ):
        assert words in page
    assert re.search(r'data-name="Macro F1">.{0,200}figure__value">[01]\.\d\d<', page, re.DOTALL)
    debate = trial.runs[1].debates.order_by("pk")[0]
    assert reverse("debate_detail", args=[trial.project.slug, debate.pk]) in page
    assert reverse("run_detail", args=[trial.project.slug, trial.runs[1].pk]) in page
    assert at(trial, "experiment_use", trial.runs[2].pk) in page


def test_the_page_asks_the_same_for_more_arms(django_assert_num_queries: Any) -> None:
    client_of = {}
    for arms in (2, 6):
        trial = trial_of(["good"] * 2)
        for _ in range(arms):
            trial.arm("single", ["good", "bad"])
        client_of[arms] = (member_browser(trial.project), at(trial, "experiment_detail"))
    for client, address in client_of.values():
        # who asks and where, bell (5), runs, roles, counts (3), state (2), what is compared (4)
        with django_assert_num_queries(15):
            assert client.get(address).status_code == 200


def test_the_debates_behind_a_number_are_listed_by_kind_and_arm() -> None:
    trial = compared()
    client, address = member_browser(trial.project), at(trial, "experiment_debates")
    page = client.get(f"{address}?kind=wrong").content.decode()
    assert page.count("reading__text") == 3 + 2
    of_one = f"{address}?kind=wrong&arm={trial.runs[1].pk}"
    assert client.get(of_one).content.decode().count("reading__text") == 2
    assert client.get(f"{address}?kind=overruled").content.decode().count("reading__text") == 1
    assert "No debate is of this kind" in client.get(f"{address}?kind=unparsed").content.decode()
    assert client.get(f"{address}?kind=odd").status_code == 422
    assert client.get(f"{address}?arm=0").status_code == 404
    sorted_page = client.get(at(trial, "experiment_detail") + "?sort=-accuracy")
    assert sorted_page.content.decode().count('aria-sort="descending"') == 1


def test_texts_and_titles_of_strangers_are_escaped() -> None:
    trial = trial_of(["good"])
    queued_items(trial.project, 1)
    trial.items[0].text = HOSTILE
    trial.items[0].save()
    Experiment.objects.filter(pk=trial.experiment.pk).update(title=HOSTILE)
    trial.arm("ecj", ["good"], [{"first": HOSTILE, "flips": {"critic": ["good"]}}])
    client = member_browser(trial.project)
    for name in ("experiment_detail", "experiment_debates"):
        page = client.get(at(trial, name) + "?kind=overruled").content.decode()
        assert HOSTILE not in page
        assert "&lt;script&gt;" in page
