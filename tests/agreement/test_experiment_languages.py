"""Experiments in other languages: pages speak the reader's, REST and the cache English."""

import pytest
from django.conf import settings
from django.test import Client
from django.utils.translation import override

from apps.accounts.roles import Role
from apps.agreement.experiments.answers import title_of
from tests.agreement.test_experiment_pages import at, compared
from tests.factories.projects import member_api, member_browser

pytestmark = pytest.mark.django_db


def read_in(client: Client, language: str, address: str) -> str:
    client.cookies[settings.LANGUAGE_COOKIE_NAME] = language
    return client.get(address).content.decode()


def test_the_first_reader_of_a_comparison_does_not_choose_its_language() -> None:
    trial = compared()
    page = read_in(member_browser(trial.project), "de", at(trial, "experiment_detail"))
    assert "p = 0,75" in page
    caller = member_api(trial.project, Role.VIEWER)
    body = caller.get(f"/api/v1/experiments/{trial.experiment.pk}/").json()
    assert body["finding"].startswith("No set-up is significantly better than A (Single annotator)")
    assert "p = 0.75" in body["finding"]
    assert [arm["title"] for arm in body["arms"]] == [
        "Single annotator",
        "Extractor, critic, judge (ECJ)",
        "Self-consistency (3 samples)",
    ]
    assert {arm["models"] for arm in body["arms"]} == {"Text matcher (demo)"}
    assert body["arms"][1]["changes"][0]["step"] == "Extractor → judge"
    assert list(body["arms"][2]["judges"])[:2] == ["who", "all_items"]
    page = read_in(member_browser(trial.project), "en", at(trial, "experiment_detail"))
    assert "p = 0.75" in page


def test_the_settings_of_a_set_up_are_words_of_the_page() -> None:
    settings = {"deliberation": "parallel", "judges": 3}
    assert title_of("courtroom", settings) == "Courtroom (deliberation: parallel)"
    cascade = title_of("cascade", {"then": "courtroom"})
    with override("de"):
        assert title_of("courtroom", settings) == "Gerichtssaal (Beratung: Parallel)"
        assert "Gerichtssaal" in title_of("cascade", {"then": "courtroom"})
    assert "courtroom" in cascade
