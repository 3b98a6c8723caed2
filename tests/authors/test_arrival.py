"""Who was here before comes back as themselves, unless erased; refused signatures are noted."""

from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from apps.authors.errors import Erased
from apps.authors.models import Author, Consent, Event, Site
from apps.authors.selectors.sites import known_site
from apps.authors.services import authors
from apps.authors.services.authors import MOST_REFUSALS, Arrival, admit_author, check_ident
from apps.authors.services.privacy import erase_author
from labelhub.core.errors import LabelhubError
from tests.authors.live import token
from tests.factories.authors import arrival_at, site_with_features

pytestmark = pytest.mark.django_db

#: Whether somebody was signed in when they were here, and what the page brings when it comes back.
VISITS = [
    (False, "sid"), (False, "tok"), (False, "sid tok"), (False, "sid ident"), (False, "tok ident"),
    (True, "sid ident"),
]  # fmt: skip


def came_before(site: Site, *, signed_in: bool, brings: str) -> tuple[Author, Arrival]:
    """Somebody who was here, and how they come back with what they were told."""
    first, ident = arrival_at(site), token(site)
    found = admit_author(
        known_site(site.public_key), replace(first, ident=ident if signed_in else "")
    )
    result: dict[str, Any] = {"sid": found.author.uid.hex, "token": found.token, "ident": ident}
    names = brings.replace("tok", "token").split()
    return found.author, replace(first, **{name: result[name] for name in names})


def makes_somebody(site: Site, arrival: Arrival) -> bool:
    try:
        admit_author(known_site(site.public_key), arrival)
    except Erased:
        return False
    return True


def test_a_hello_of_an_erased_author_makes_nobody() -> None:
    site, made = site_with_features(), []
    for signed_in, brings in VISITS:
        author, again = came_before(site, signed_in=signed_in, brings=brings)
        erase_author(author)
        if makes_somebody(site, again):
            made.append((signed_in, brings))
    assert made == []
    assert not Author.objects.exists()


def test_an_erasure_at_the_last_moment_before_the_hello_s_transaction_leaves_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    site, made = site_with_features(), []
    for signed_in, brings in VISITS:
        author, again = came_before(site, signed_in=signed_in, brings=brings)

        def erased_first(author: Author = author) -> AbstractContextManager[None]:
            erase_author(author)
            return transaction.atomic()

        with monkeypatch.context() as patched:
            patched.setattr(authors, "transaction", SimpleNamespace(atomic=erased_first))
            if makes_somebody(site, again):
                made.append((signed_in, brings))
    assert made == []
    assert not Consent.objects.exists()


def test_who_signs_in_after_an_anonymous_visit_is_who_the_host_says() -> None:
    site = site_with_features()
    author, again = came_before(site, signed_in=False, brings="sid tok ident")
    found = admit_author(known_site(site.public_key), again).author
    assert found != author
    assert found.subject == "customer-1"


def test_a_flood_of_forged_signatures_is_told_of_so_many_times_a_minute() -> None:
    site = site_with_features()
    for number in range(MOST_REFUSALS + 5):
        with pytest.raises(LabelhubError):
            check_ident(site, f"forged.token.{number}")
    result = Event.objects.filter(site=site, kind=Event.Kind.IDENT)
    assert result.count() == MOST_REFUSALS
    result.update(at=timezone.now() - timedelta(minutes=2))
    with pytest.raises(LabelhubError):
        check_ident(site, "forged.token.again")
    assert result.count() == MOST_REFUSALS + 1
