"""REST: a site's messages, answers and the ruling over its authors."""

import pytest
from rest_framework.test import APIClient

from apps.authors.models import Answer, Site
from apps.authors.services.trust import set_ruling
from tests.authors.api.answering import answered
from tests.authors.api.calling import url
from tests.common.openapi import assert_matches_schema
from tests.factories.authors import author_of, message_of

pytestmark = pytest.mark.django_db
RULING = "/api/v1/sites/{public_key}/authors/{uid}/ruling/"


def test_who_an_author_is_elsewhere_is_not_told(site: Site, manager: APIClient) -> None:
    answered(site, "anna@example.org")
    for rest in ("messages/", "answers/"):
        result = manager.get(url(site, rest))
        assert "anna@example.org" not in result.content.decode()
        assert result.json()["results"][0]["author"]["pseudonym"].startswith("author-")


def test_sealed_text_stays_sealed(manager: APIClient, site: Site) -> None:
    site.keep_text = "sealed"
    message_of(author_of(site), "My mail is jane.roe@example.org and I like quiet laptops a lot.")
    result = manager.get(url(site, "messages/"))
    assert "jane.roe" not in result.content.decode()


def test_a_ruling_takes_answers_out_and_back_in(site: Site, manager: APIClient) -> None:
    author = answered(site, "anna").author
    address = url(site, f"authors/{author.uid}/ruling/")
    response = manager.post(address, {"trusted": False, "reason": "Clicks blindly."})
    assert_matches_schema(response, "POST", RULING)
    body = response.json()
    assert (body["counts"], body["trusted"], body["ruling"]) == (False, True, False)
    assert Answer.objects.get().excluded_for == body["ruling_reason"] == "Clicks blindly."
    back = manager.post(address, {"trusted": None}).json()
    assert (back["counts"], back["ruling"]) == (True, None)


def test_answers_are_narrowed(site: Site, manager: APIClient) -> None:
    answered(site, "anna")
    set_ruling(answered(site, "bert").author, trusted=False, reason="Clicks blindly.")

    def values(query: str) -> list[str]:
        rows = manager.get(url(site, f"answers/?{query}")).json()["results"]
        return [row["excluded_for"] for row in rows]

    assert values("excluded=true") == ["Clicks blindly."]
    assert values("excluded=false") == [""]
    assert values("outcome=nofit") == []
    assert len(values("outcome=answer")) == 2
