"""create_site, export_payout and erase_author."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from apps.authors.models import Author, Payout, Reward, Site
from apps.projects.models import Project
from tests.authors.api.answering import answered
from tests.authors.api.calling import message, server, url
from tests.cases import all_cases
from tests.factories.authors import PER_ITEM, author_of
from tests.factories.projects import ProjectFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return ProjectFactory.create(definition=PER_ITEM)


def run(*words: object) -> str:
    result = io.StringIO()
    call_command(*[str(word) for word in words], stdout=result)
    return result.getvalue()


def run_json(*words: object) -> Any:
    return json.loads(run(*words, "--json"))


def test_a_site_is_made_with_its_keys(project: Project) -> None:
    made = run_json(
        "create_site", project.slug, "Shop", "--origin", "https://shop.example.org",
        "--language", "en", "de", "--verified", "--host-consent", "--server-key",
        "--signing-secret", "--url", "https://labels.example.org/",
    )  # fmt: skip
    site = Site.objects.get(public_key=made["public_key"])
    assert (site.identity, site.consent_by, site.languages) == ("verified", "host", ["en", "de"])
    assert site.allowed_origins == ["https://shop.example.org"]
    assert 'src="https://labels.example.org/widget/v1.js"' in made["snippet"]
    assert made["signing_secret"]["secret"].startswith("ss_")
    posted = server(made["server_key"]["secret"]).post(url(site, "messages/"), message())
    assert posted.status_code == 201


@all_cases(
    ("words", "result"),
    [
        (["nowhere", "Shop"], "no project 'nowhere'"),
        (["{slug}", "Shop", "--features", "groceries"], "emotion, shopping"),
        (["{slug}", "Shop", "--origin", "shop.example.org"], "is not an origin"),
        (["{slug}", "Shop", "--language", "tlh"], "'tlh' is not among"),
        (["{slug}", " "], "name"),
        (["{slug}", "Shop", "--anonymous", "--verified"], "not allowed with"),
    ],
)
def test_a_site_that_cannot_be_made(project: Project, words: list[str], result: str) -> None:
    with pytest.raises(CommandError, match=result) as error:
        run("create_site", *[word.format(slug=project.slug) for word in words], "--server-key")
    assert "\n" not in str(error.value)
    assert not Site.objects.exists()


def test_what_is_due_is_written_as_csv(site: Site, tmp_path: Path) -> None:
    answered(site, "=anna", due=True)
    target = tmp_path / "payout.csv"
    body = run_json("export_payout", site.public_key, "--output", target)
    assert (body["cents"], body["rewards"]) == (5, 1)
    (row,) = csv.DictReader(io.StringIO(target.read_text()))
    assert (row["author"], row["amount"], row["answers"]) == ("'=anna", "0.05", "1")
    target.unlink()
    again = run("export_payout", site.public_key, "--output", target, "--payout", body["id"])
    assert "0.05 USD, answers: 1" in again
    assert target.exists()


def test_nothing_is_paid_out_where_no_file_can_be_written(site: Site, tmp_path: Path) -> None:
    answered(site, "anna", due=True)
    with pytest.raises(CommandError, match="cannot be written"):
        run("export_payout", site.public_key, "--output", tmp_path / "nowhere" / "payout.csv")
    assert not Payout.objects.exists()
    assert Reward.objects.get().payout is None


def test_an_author_is_erased_by_the_hosts_id_or_ours(site: Site) -> None:
    answered(site, "anna")
    body = run_json("erase_author", site.public_key, "--subject", "anna")
    assert body["removed"]["labels"] == 1
    anonymous = author_of(site)
    assert "Receipt" in run("erase_author", site.public_key, "--uid", anonymous.uid)
    assert not Author.objects.exists()


@all_cases(
    "words", [["--subject", "nobody"], ["--subject", ""], ["--uid", "1"], ["--uid", "é" * 32], []]
)
def test_an_author_who_is_not_there(site: Site, words: list[str]) -> None:
    made = author_of(site)
    with pytest.raises(CommandError):
        run("erase_author", site.public_key, *words)
    assert Author.objects.filter(pk=made.pk).exists()
