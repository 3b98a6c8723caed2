"""Pages speak the language of the person; what programs read is always English."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as project_settings
from django.test import Client, RequestFactory
from django.utils import translation
from django.utils.translation import trans_real
from pytest_django import DjangoAssertNumQueries

from apps.common import figures
from apps.common.api.errors import server_error
from apps.common.catalogues import compile_entries, read_entries
from tests.factories.accounts import PASSWORD, UserFactory

LOGIN = "/accounts/login/"
GERMAN = project_settings.BASE_DIR / "locale/de/LC_MESSAGES/django.po"


def page(client: Client, **headers: str) -> str:
    return client.get(LOGIN, headers=headers).content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("browser", "language", "title"),
    [
        ("de-AT,de;q=0.9,en;q=0.8", "de", "Anmelden"),
        ("es-MX", "es", "Iniciar sesión"),
        ("fr,ja", "en", "Sign in"),
        ("", "en", "Sign in"),
    ],
)
def test_a_new_visitor_sees_the_language_of_the_browser(
    client: Client, browser: str, language: str, title: str
) -> None:
    html = page(client, accept_language=browser)
    assert f'<html lang="{language}" dir="ltr"' in html
    assert f"<h1>{title}</h1>" in html


@pytest.mark.django_db
def test_the_chosen_language_is_kept_and_the_way_leads_back(client: Client) -> None:
    answer = client.post("/language/", {"language": "de", "next": LOGIN})
    assert answer.headers["Location"] == LOGIN
    assert client.cookies["labelhub_language"].value == "de"
    assert "<h1>Anmelden</h1>" in page(client, accept_language="es")


@pytest.mark.django_db
def test_the_choice_of_a_person_is_kept_for_their_e_mails(client: Client) -> None:
    user = UserFactory.create(username="ada")
    client.post("/language/", {"language": "es"})  # on the way to the sign-in
    client.post(LOGIN, {"login": "ada", "password": PASSWORD})
    user.refresh_from_db()
    assert user.language == "es"
    for language in ("de", "unknown"):
        client.post("/language/", {"language": language})
    user.refresh_from_db()
    assert user.language == "de"


@pytest.mark.django_db
def test_a_missing_page_says_so_in_words(client: Client) -> None:
    answer = client.get("/nowhere/", headers={"accept-language": "de"})
    html = answer.content.decode()
    assert (answer.status_code, "<h1>Hier ist nichts</h1>" in html) == (404, True)
    assert "not_found" not in html


def test_a_server_error_needs_no_database_and_says_so_in_words() -> None:
    with translation.override("de"):
        html = server_error(RequestFactory().get("/")).content.decode()
    assert '<html lang="de"' in html
    assert "<h1>Auf dem Server ist ein Fehler aufgetreten</h1>" in html


@pytest.mark.django_db
@pytest.mark.parametrize("wanted", ["https://elsewhere.example/", "//elsewhere.example"])
def test_choosing_a_language_never_leads_elsewhere(client: Client, wanted: str) -> None:
    answer = client.post("/language/", {"language": "de", "next": wanted})
    assert answer.headers["Location"] == "/"


def test_a_language_is_chosen_by_post_only(client: Client) -> None:
    assert client.get("/language/").status_code == 405


@pytest.mark.django_db
def test_the_language_costs_no_query(
    client: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    client.cookies["labelhub_language"] = "de"
    with django_assert_num_queries(0):
        page(client)


@pytest.mark.django_db
def test_rest_answers_in_english(client: Client) -> None:
    client.force_login(UserFactory.create())
    client.cookies["labelhub_language"] = "de"
    answer = client.post("/api/v1/projects/", {}, content_type="application/json")
    assert answer.json()["errors"][0]["message"] == "This field is required."
    assert "Content-Language" not in answer.headers
    assert "Accept-Language" not in answer.headers.get("Vary", "")


@pytest.mark.parametrize(
    ("language", "shown"),
    [
        ("en", ["$1,234.50", "−$0.0012", "0.8 s", "12,345", "81\xa0%", "0.61"]),
        ("de", ["1.234,50 $", "−0,0012 $", "0,8 s", "12.345", "81\xa0%", "0,61"]),
        ("es", ["1\xa0234,50 US$", "−0,0012 US$", "0,8 s", "12\xa0345", "81\xa0%", "0,61"]),
    ],
)
def test_numbers_follow_the_language(language: str, shown: list[str]) -> None:
    with translation.override(language):
        assert [
            figures.money(1_234_500_000_000),
            figures.money(-1_200_000),
            figures.duration(0.8),
            figures.count_words(12345),
            figures.share_words(0.81),
            figures.number_words(0.61),
        ] == shown


@pytest.mark.parametrize("language", ["en", "de", "es"])
def test_positions_of_drawings_do_not(language: str) -> None:
    with translation.override(language):
        drawn = figures.draw_figure({"value": 0.5, "low": 0.25, "high": 0.75, "n": 1000})
    assert (drawn.x_low, drawn.x, drawn.x_high) == ("25.0", "50.0", "75.0")


@pytest.fixture
def marked_arabic(tmp_path: Path, settings: Any) -> Iterator[None]:
    """A language from right to left in which each of our texts stands between ⟦ and ⟧."""
    entries = list(read_entries(GERMAN.read_text()))
    for entry in entries:
        if entry.id:
            entry.translations = tuple(f"⟦{text}⟧" for text in (entry.id, entry.plural) if text)
    file = tmp_path / "ar" / "LC_MESSAGES" / "django.mo"
    file.parent.mkdir(parents=True)
    file.write_bytes(compile_entries(iter(entries)))
    settings.LANGUAGES = [*project_settings.LANGUAGES, ("ar", "العربية")]
    settings.LOCALE_PATHS = [tmp_path]
    yield
    vars(trans_real)["_translations"].pop("ar", None)


@pytest.mark.django_db
def test_a_page_from_right_to_left_is_translated_to_its_last_word(
    client: Client, marked_arabic: None
) -> None:
    client.cookies["labelhub_language"] = "ar"
    html = page(client)
    assert '<html lang="ar" dir="rtl"' in html
    texts = re.sub(
        r"<(script|kbd|template)\b.*?</\1>", "", html[html.index("<body") :], flags=re.DOTALL
    )
    texts = re.sub(r"⟦.*?⟧", "", re.sub(r"<[^>]*>", "\n", texts), flags=re.DOTALL)
    left = {line.strip() for line in texts.splitlines() if re.search(r"[A-Za-z]{2}", line)}
    assert left == {"LabelHub", "English", "Deutsch", "Español"}
