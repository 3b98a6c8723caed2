"""/p/<slug>/sites/ and a site's first page: what members see, and what is worth a warning."""

from typing import Any

import pytest
from django.test import Client

from apps.authors.models import Author, Site
from tests.authors.pages.reading import page
from tests.factories.authors import asked, author_of, message_of, shown_to, site_with_features

pytestmark = pytest.mark.django_db


def busy(site: Site) -> Author:
    """One message with two questions, and two messages that are not asked about."""
    author = author_of(site, "customer")
    asked(author)
    shown_to(author)
    message_of(author, "hello!")
    message_of(author, "thanks!")
    return author


def test_the_list_takes_as_many_queries_for_any_number_of_sites(
    site: Site, manager: Client, django_assert_num_queries: Any
) -> None:
    address = f"/p/{site.project.slug}/sites/"
    manager.get(address)
    with django_assert_num_queries(10, exact=False) as first:
        manager.get(address)
    for _ in range(3):
        busy(site_with_features(site.project))
    with django_assert_num_queries(len(first)):
        manager.get(address)


def test_viewers_see_numbers_and_nothing_that_was_written(viewer: Client, site: Site) -> None:
    html = viewer.get(page(site)).content.decode()
    for rest in (
        "live/",
        "install/",
        "authors/",
        "settings/",
        "rewards/",
        "console/",
        "questions/",
    ):
        assert page(site, rest) not in html
        assert viewer.get(page(site, rest)).status_code == 403


def test_a_site_of_another_project_is_nowhere(manager: Client, site: Site) -> None:
    other = site_with_features()
    assert manager.get(f"/p/{site.project.slug}/sites/{other.pk}/").status_code == 404
