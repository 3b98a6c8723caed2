"""/sites/<id>/offers/catalogue/: the items, a file of them, what would be offered for a text."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.authors.models import Site
from apps.echo.models import CatalogueItem, Decision, Echo, Selection
from apps.echo.services.catalogue import import_catalogue
from tests.authors.pages.reading import page, words
from tests.factories.echo import echo_of

pytestmark = pytest.mark.django_db

HEAD = "id,title,text,link,picture,vertical,price,currency\n"
TEXT = "Which light tent for two people would you buy for a first camping trip?"


def file_of(text: str) -> SimpleUploadedFile:
    return SimpleUploadedFile("catalogue.csv", text.encode(), "text/csv")


def test_an_empty_one_says_how_to_begin(manager: Client, site: Site) -> None:
    echo_of(site)
    assert "The catalogue is empty" in words(manager.get(page(site, "offers/catalogue/")))


def test_items_are_told_with_vertical_and_price(viewer: Client, echo: Echo) -> None:
    told = words(viewer.get(page(echo.site, "offers/catalogue/")))
    assert "Two-person tent" in told
    assert "sleeping" in told
    assert "129 EUR" in told
    assert "Offer no more" not in told


@pytest.mark.parametrize("query", ["warm forty", "LIGHT", "lamp", "Storm"])
def test_every_word_is_looked_for(manager: Client, echo: Echo, query: str) -> None:
    told = words(manager.get(page(echo.site, "offers/catalogue/"), {"q": query}))
    assert "Storm lamp" in told
    assert "Camping kettle" not in told


def test_nothing_found_says_so(manager: Client, echo: Echo) -> None:
    told = words(manager.get(page(echo.site, "offers/catalogue/"), {"q": "100% _nothing"}))
    assert "None found" in told


def test_pictures_of_this_server_are_shown_and_no_others(manager: Client, echo: Echo) -> None:
    rows = 'a,A,A,/a,/static/demo/tent.svg,,,\nb,B,B,/b,https://evil.example/"x.png,,,\n'
    import_catalogue(echo, HEAD + rows.replace('"x', "x"))
    source = manager.get(page(echo.site, "offers/catalogue/")).content.decode()
    assert 'src="/static/demo/tent.svg"' in source
    assert "evil.example" not in source


def test_the_number_of_queries_does_not_grow(manager: Client, echo: Echo) -> None:
    manager.get(page(echo.site, "offers/catalogue/"))
    counts = []
    for few in (3, 20):
        rows = "".join(f"i{n},Item {n},About it,/i/{n},,,,\n" for n in range(few))
        import_catalogue(echo, HEAD + rows)
        with CaptureQueriesContext(connection) as queries:
            manager.get(page(echo.site, "offers/catalogue/"))
        counts.append(len(queries))
    assert counts[0] == counts[1]


class TestSwitching:
    def test_an_item_is_offered_no_more_and_again(self, manager: Client, echo: Echo) -> None:
        item = echo.items.get(ref="lamp")
        address = page(echo.site, f"offers/catalogue/{item.pk}/switch/")
        response = manager.post(address, {"do": "off", "q": "lamp"})
        assert response["Location"].endswith("offers/catalogue/?q=lamp")
        item.refresh_from_db()
        assert not item.active
        told = words(manager.get(page(echo.site, "offers/catalogue/"), {"state": "off"}))
        assert "Storm lamp" in told
        assert "Two-person tent" not in told
        manager.post(address, {"do": "on"})
        item.refresh_from_db()
        assert item.active

    def test_items_of_another_site_are_not_found(self, manager: Client, echo: Echo) -> None:
        other = echo_of()
        import_catalogue(other, HEAD + "a,A,A,/a,,,,\n")
        address = page(echo.site, f"offers/catalogue/{other.items.get().pk}/switch/")
        assert manager.post(address, {"do": "off"}).status_code == 404
        assert other.items.get().active


class TestImporting:
    def test_the_sample_imports_as_it_is(self, manager: Client, site: Site) -> None:
        echo = echo_of(site)
        sample = manager.get(page(site, "offers/catalogue/sample.csv"))
        assert sample["Content-Type"].startswith("text/csv")
        file = file_of(sample.content.decode())
        response = manager.post(page(site, "offers/catalogue/import/"), {"file": file})
        assert response.status_code == 302
        assert echo.items.count() == 3

    def test_good_rows_go_in_and_bad_ones_are_told_by_row_and_column(
        self, manager: Client, echo: Echo
    ) -> None:
        rows = "new,New one,Text,/new,,,,\nbad,Bad one,Text,javascript:alert(1),,,12x,EUR\n"
        address = page(echo.site, "offers/catalogue/import/")
        response = manager.post(address, {"file": file_of(HEAD + rows)})
        told = words(response)
        assert response.status_code == 200
        assert "Imported: 1 new" in told
        assert "3 link must begin with https:// or http://" in told
        assert "3 price must be a number" in told
        assert echo.items.filter(ref="new").exists()

    def test_what_is_of_no_use_here_is_named_and_goes_in(self, manager: Client, echo: Echo) -> None:
        table = "id,title,text,link,attributes,<b>\nnew,New,Text,/new,colour=red|budget=<i>,\n"
        address = page(echo.site, "offers/catalogue/import/")
        response = manager.post(address, {"file": file_of(table)})
        told = words(response)
        assert response.status_code == 200
        assert "Imported: 1 new" in told
        assert "1 row names the feature colour, which this site does not ask about" in told
        assert "the value “<i>” of budget" in told
        assert "Columns that mean nothing here: <b>." in told
        assert "left out" not in told
        assert "<i>" not in response.content.decode()
        assert echo.items.filter(ref="new").exists()

    def test_of_a_file_without_a_good_row_nothing_is_taken(
        self, manager: Client, echo: Echo
    ) -> None:
        response = manager.post(
            page(echo.site, "offers/catalogue/import/"), {"file": file_of(HEAD + ",,,,,,,x\n")}
        )
        assert response.status_code == 422
        assert "Nothing was imported." in words(response)
        assert "title must not be empty" in words(response)

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            pytest.param("name;price\nTent;12\n", "there is no column", id="no-such-table"),
            pytest.param("[1, 2", "not JSON", id="broken-json"),
        ],
    )
    def test_what_is_no_catalogue_is_refused(
        self, manager: Client, echo: Echo, text: str, said: str
    ) -> None:
        response = manager.post(
            page(echo.site, "offers/catalogue/import/"), {"file": file_of(text)}
        )
        assert response.status_code == 422
        assert said in words(response)

    def test_items_that_are_not_in_the_file_are_retired_if_wanted(
        self, manager: Client, echo: Echo
    ) -> None:
        data = {"file": file_of(HEAD + "lamp,Lamp,Light,/lamp,,,,\n"), "replace": "on"}
        manager.post(page(echo.site, "offers/catalogue/import/"), data)
        assert list(echo.items.filter(active=True).values_list("ref", flat=True)) == ["lamp"]


class TestTrying:
    def test_what_fits_is_told_with_score_and_reasons(self, manager: Client, echo: Echo) -> None:
        told = words(manager.post(page(echo.site, "offers/catalogue/try/"), {"text": TEXT}))
        assert "Two-person tent would be offered" in told
        assert "tent" in told
        assert "What Echo makes of it" in told

    def test_nothing_is_stored(self, manager: Client, echo: Echo) -> None:
        manager.post(page(echo.site, "offers/catalogue/try/"), {"text": TEXT})
        assert not Decision.objects.exists()
        assert not Selection.objects.exists()

    def test_it_is_the_same_every_time(self, manager: Client, echo: Echo) -> None:
        address = page(echo.site, "offers/catalogue/try/")
        once = words(manager.post(address, {"text": TEXT}, headers={"hx-request": "true"}))
        assert once == words(manager.post(address, {"text": TEXT}, headers={"hx-request": "true"}))
        assert "<h1" not in once

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            pytest.param("hello there!", "small talk", id="greeting"),
            pytest.param(
                "I was diagnosed with cancer last week.", "a sensitive topic", id="sensitive"
            ),
            pytest.param(
                "How do I file a complaint about the noise in my street?",
                "Nothing would be offered",
                id="nothing-fits",
            ),
        ],
    )
    def test_where_nothing_would_be_offered_it_says_why(
        self, manager: Client, echo: Echo, text: str, said: str
    ) -> None:
        assert said in words(manager.post(page(echo.site, "offers/catalogue/try/"), {"text": text}))

    def test_an_item_switched_off_a_moment_ago_is_not_offered(
        self, manager: Client, echo: Echo
    ) -> None:
        address = page(echo.site, "offers/catalogue/try/")
        manager.post(address, {"text": TEXT})
        tent = CatalogueItem.objects.get(ref="tent-2")
        manager.post(page(echo.site, f"offers/catalogue/{tent.pk}/switch/"), {"do": "off"})
        assert "tent would be offered" not in words(manager.post(address, {"text": TEXT}))

    def test_a_text_is_needed(self, manager: Client, echo: Echo) -> None:
        assert manager.post(page(echo.site, "offers/catalogue/try/"), {}).status_code == 422
