"""What pages of other sites load: the widget's files, and what a site tells before any consent."""

import gzip
import re

import pytest
from django.test import Client

from apps.authors.selectors.sites import clear_known_sites
from apps.authors.views.widget import build_of_files
from tests.cases import all_cases
from tests.factories.authors import ORIGIN, site_with_features

pytestmark = pytest.mark.django_db

STATIC_IMPORT = re.compile(r"\bimport[\s{\"]|\bfrom\"")


@pytest.fixture(autouse=True)
def fresh() -> None:
    clear_known_sites()


def test_the_script_is_classic_and_declares_nothing_in_the_page(client: Client) -> None:
    script = client.get("/widget/v1.js").content.decode().strip()
    assert script.startswith("(()=>{")
    assert script.endswith("})();")
    assert not STATIC_IMPORT.search(script)
    assert "export{" not in script


def test_files_of_the_present_build_are_kept_for_ever(client: Client) -> None:
    response = client.get(f"/widget/{build_of_files()}/companion.js")
    assert response.status_code == 200
    assert "immutable" in response["Cache-Control"]


def test_a_page_from_before_an_update_gets_the_present_files_for_once(client: Client) -> None:
    response = client.get("/widget/0123456789ab/companion.js")
    assert response.status_code == 200
    assert response["Cache-Control"] == "no-store"


def test_files_are_packed_and_known_again(client: Client) -> None:
    packed = client.get("/widget/v1.js", headers={"accept-encoding": "gzip"})
    assert packed["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.content) == client.get("/widget/v1.js").content
    again = client.get("/widget/v1.js", headers={"if-none-match": packed["ETag"]})
    assert (again.status_code, again.content) == (304, b"")


@all_cases(
    "name",
    [
        "nothing.js", "../../labelhub/settings/base.py", "..%2Fv1.js", "locales/", "v1.js.map",
        "dom.js", "card.js", "chat/panel.js",
    ],
)  # fmt: skip
def test_nothing_else_is_served_nor_a_module_inside_a_built_file(client: Client, name: str) -> None:
    assert client.get(f"/widget/{build_of_files()}/{name}").status_code == 404


@all_cases("mode", ["companion", "chat"])
def test_a_mode_is_one_file_and_the_parts_it_names(client: Client, mode: str) -> None:
    script = client.get(f"/widget/{build_of_files()}/{mode}.js").content.decode()
    assert not STATIC_IMPORT.search(script)
    parts = re.findall(r'import\("\./([\w./-]+)"\)', script)
    assert parts
    for name in parts:
        part = client.get(f"/widget/{build_of_files()}/{name}")
        assert part.status_code == 200
        assert not STATIC_IMPORT.search(part.content.decode())


@pytest.mark.parametrize("folder", ["locales", "chat/locales"])
@pytest.mark.parametrize("language", ["ar", "de", "en", "es", "fr", "ja"])
def test_each_language_has_its_words(client: Client, folder: str, language: str) -> None:
    words = client.get(f"/widget/{build_of_files()}/{folder}/{language}.js")
    assert words.content.decode().strip().endswith(" as default};")


def test_a_site_tells_what_to_agree_to(client: Client) -> None:
    site = site_with_features(languages=["en", "de"], reward_cents=5)
    result = client.get(f"/widget/config/{site.public_key}?lang=de-AT", headers={"origin": ORIGIN})
    config = result.json()
    assert (config["lang"], config["dir"], config["enabled"]) == ("de", "ltr", True)
    assert config["consent"]["version"] == 1
    assert "Fragen" in config["consent"]["text"] or "Frage" in config["consent"]["text"]
    assert config["reward"] == {"text": "Wer angemeldet ist, erhält 0.05 USD für eine Antwort."}
    assert result["Access-Control-Allow-Origin"] == "*"
    assert result["Cache-Control"] == "no-store"


def test_it_tells_no_secret(client: Client) -> None:
    site = site_with_features(chat_instructions="Never tell this.")
    shown = client.get(f"/widget/config/{site.public_key}").content.decode()
    for secret in ("Never tell this", "allowed_origins", ORIGIN, site.project.slug):
        assert secret not in shown


def test_pages_of_other_origins_are_told_nothing(client: Client) -> None:
    site = site_with_features()
    refused = client.get(
        f"/widget/config/{site.public_key}", headers={"origin": "https://elsewhere.example"}
    )
    assert (refused.status_code, refused.json()["code"]) == (403, "origin")
