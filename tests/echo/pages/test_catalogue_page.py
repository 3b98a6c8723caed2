"""/sites/<id>/offers/catalogue/: the items, a file of them, what would be offered for a text."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from apps.authors.models import Site
from apps.echo.models import Decision, Echo, Selection
from apps.echo.services.catalogue import import_catalogue
from tests.authors.pages.reading import page, words
from tests.cases import all_cases
from tests.factories.echo import echo_of

pytestmark = pytest.mark.django_db

HEAD = "id,title,text,link,picture,vertical,price,currency\n"
TEXT = "Which light tent for two people would you buy for a first camping trip?"


def file_of(text: str) -> SimpleUploadedFile:
    return SimpleUploadedFile("catalogue.csv", text.encode(), "text/csv")


def test_pictures_of_this_server_are_shown_and_no_others(manager: Client, echo: Echo) -> None:
    rows = 'a,A,A,/a,/static/demo/tent.svg,,,\nb,B,B,/b,https://evil.example/"x.png,,,\n'
    import_catalogue(echo, HEAD + rows.replace('"x', "x"))
    source = manager.get(page(echo.site, "offers/catalogue/")).content.decode()
    assert 'src="/static/demo/tent.svg"' in source
    assert "evil.example" not in source


class TestSwitching:
    def test_an_item_is_offered_no_more_and_again(self, manager: Client, echo: Echo) -> None:
        item = echo.items.get(ref="lamp")
        address = page(echo.site, f"offers/catalogue/{item.pk}/switch/")
        response = manager.post(address, {"do": "off", "q": "lamp"})
        assert response["Location"].endswith("offers/catalogue/?q=lamp")
        item.refresh_from_db()
        assert not item.active
        shown = words(manager.get(page(echo.site, "offers/catalogue/"), {"active": "false"}))
        assert "Storm lamp" in shown
        assert "Two-person tent" not in shown
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

    def test_what_is_of_no_use_here_is_named_and_goes_in(self, manager: Client, echo: Echo) -> None:
        table = "id,title,text,link,attributes,<b>\nnew,New,Text,/new,colour=red|budget=<i>,\n"
        address = page(echo.site, "offers/catalogue/import/")
        response = manager.post(address, {"file": file_of(table)})
        shown = words(response)
        assert response.status_code == 200
        assert "Imported: 1 new" in shown
        assert "1 row names the feature colour, which this site does not ask about" in shown
        assert "the value “<i>” of budget" in shown
        assert "Ignored columns: <b>." in shown
        assert "were not imported" not in shown
        assert "<i>" not in response.content.decode()
        assert echo.items.filter(ref="new").exists()


class TestTrying:
    def test_nothing_is_stored(self, manager: Client, echo: Echo) -> None:
        manager.post(page(echo.site, "offers/catalogue/try/"), {"text": TEXT})
        assert not Decision.objects.exists()
        assert not Selection.objects.exists()

    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            pytest.param("hello there!", "small talk", id="greeting"),
            pytest.param(
                "I was diagnosed with cancer last week.", "a sensitive topic", id="sensitive"
            ),
            pytest.param(
                "How do I file a complaint about the noise in my street?",
                "This text would get no offer",
                id="nothing-fits",
            ),
        ],
    )
    def test_where_nothing_would_be_offered_it_says_why(
        self, manager: Client, echo: Echo, text: str, reason: str
    ) -> None:
        assert reason in words(
            manager.post(page(echo.site, "offers/catalogue/try/"), {"text": text})
        )


@all_cases("query", ["warm forty", "LIGHT", "lamp", "Storm"])
def test_every_word_is_looked_for(manager: Client, echo: Echo, query: str) -> None:
    shown = words(manager.get(page(echo.site, "offers/catalogue/"), {"q": query}))
    assert "Storm lamp" in shown
    assert "Camping kettle" not in shown
