"""REST: sites/{public_key}/echo/catalogue/."""

from io import BytesIO
from typing import Any

import pytest
from rest_framework.test import APIClient

from apps.authors.models import Site
from apps.echo.api.catalogue import CatalogueTableParser
from apps.echo.models import CatalogueItem, Echo
from apps.echo.services.catalogue import import_catalogue, index_of
from tests.authors.api.calling import refused, url
from tests.common.openapi import assert_matches_schema

pytestmark = pytest.mark.django_db
CATALOGUE = "/api/v1/sites/{public_key}/echo/catalogue/"
ITEM = f"{CATALOGUE}{{ref}}/"
TABLE = """id,title,text,link
tent/2,Two-person tent,A light tent.,/shop/tent
lamp,Storm lamp,Warm light for forty hours.,/shop/lamp
"""
FAULTY = TABLE + "kettle,,Boils a litre.,/shop/kettle\nlamp,Lamp,Again.,/shop/lamp\n"


def send(who: APIClient, site: Site, table: str, query: str = "") -> Any:
    return who.generic(
        "POST", url(site, f"echo/catalogue/{query}"), table, content_type="text/csv; charset=utf-8"
    )


def counts(response: Any) -> tuple[int, ...]:
    body = response.json()
    return tuple(body[name] for name in ("created", "changed", "unchanged", "retired"))


def test_a_table_comes_in_and_is_listed(echo: Echo, manager: APIClient, viewer: APIClient) -> None:
    response = send(manager, echo.site, TABLE)
    assert_matches_schema(response, "POST", CATALOGUE)
    assert counts(response) == (2, 0, 0, 0)
    listed = viewer.get(url(echo.site, "echo/catalogue/"))
    assert_matches_schema(listed, "GET", CATALOGUE)
    assert [row["id"] for row in listed.json()["results"]] == ["tent/2", "lamp"]
    assert listed.json()["results"][0]["definition"]["title"] == "Two-person tent"


def test_strictly_all_rows_go_in_or_none(echo: Echo, manager: APIClient) -> None:
    response = send(manager, echo.site, FAULTY, "?strict=1")
    assert_matches_schema(response, "POST", CATALOGUE)
    body = refused(response, 422, "invalid")
    assert [(fault["row"], fault["field"]) for fault in body["errors"]] == [(4, "title"), (5, "id")]
    assert not CatalogueItem.objects.exists()


def test_what_is_too_large_is_refused_however_it_is_sent(
    echo: Echo, manager: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CatalogueTableParser, "most", len(TABLE))
    assert send(manager, echo.site, TABLE).status_code == 200
    refused(send(manager, echo.site, TABLE + "\n"), 413, "too_large")
    upload = BytesIO(TABLE.encode() + b"\n")
    upload.name = "wares.csv"
    path = url(echo.site, "echo/catalogue/")
    refused(manager.post(path, {"file": upload}, format="multipart"), 413, "too_large")


def test_an_item_is_offered_no_more_and_again(
    echo: Echo, manager: APIClient, viewer: APIClient
) -> None:
    import_catalogue(echo, TABLE)
    path = url(echo.site, "echo/catalogue/tent/2/")
    assert_matches_schema(viewer.get(path), "GET", ITEM)
    for active in (False, False, True):
        response = manager.patch(path, {"active": active})
        assert_matches_schema(response, "PATCH", ITEM)
        assert response.json()["active"] is active
        assert len(index_of(echo).items) == (2 if active else 1)
