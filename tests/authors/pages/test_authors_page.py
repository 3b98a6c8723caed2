"""/sites/<id>/authors/: who wrote, what speaks for and against them, excluding and deleting."""

import pytest
from django.test import Client

from apps.authors.models import Answer, Author, Erasure, Message, Site
from apps.labels.models import Label
from tests.authors.pages.reading import page, words
from tests.factories.authors import answered_by, author_of, site_with_features

pytestmark = pytest.mark.django_db


@pytest.fixture
def author(site: Site) -> Author:
    """Somebody whom the host knows, who has answered once."""
    author = author_of(site, "customer-17")
    answered_by(author)
    return author


def at(author: Author, rest: str = "") -> str:
    return page(author.site, f"authors/{author.uid}/{rest}")


def standing() -> int:
    return Label.objects.current().filter(abstained=False).count()


def test_excluding_takes_a_reason_and_can_be_taken_back(manager: Client, author: Author) -> None:
    assert manager.post(at(author, "ruling/"), {"trusted": "no"}).status_code == 422
    assert standing() == 1
    sent = {"trusted": "no", "reason": "A colleague"}
    shown = words(manager.post(at(author, "ruling/"), sent, follow=True))
    assert standing() == 0
    assert "excluded: A colleague" in shown
    assert f"The answers of {author.pseudonym} no longer count." in shown
    manager.post(at(author, "ruling/"), {"trusted": "yes"})
    assert standing() == 1
    manager.post(at(author, "ruling/"), {"trusted": ""})
    assert Author.objects.get().ruling is None


def test_deleting_takes_the_typed_pseudonym(manager: Client, author: Author) -> None:
    assert manager.post(at(author, "erase/"), {"typed": "customer-17"}).status_code == 422
    assert Author.objects.exists()
    manager.post(at(author, "erase/"), {"typed": author.pseudonym})
    assert not any(model.objects.exists() for model in (Author, Message, Answer, Label))
    assert Erasure.objects.count() == 1


def test_an_author_of_another_site_is_nowhere(manager: Client, site: Site) -> None:
    other = author_of(site_with_features(site.project))
    for rest in ("", "ruling/", "erase/"):
        address = page(site, f"authors/{other.uid}/{rest}")
        response = manager.post(address) if rest else manager.get(address)
        assert response.status_code == 404
