"""/sites/<id>/install/: the snippet, origins, secrets told once, and the preview."""

import re
from datetime import UTC, datetime

import pytest
from django.test import Client

from apps.authors.models import Site, SiteKey
from apps.authors.selectors.sites import find_server_key, signing_secrets
from labelhub.core.interview.identity import read_ident
from tests.authors.pages.reading import page, words
from tests.factories.authors import signing_secret, site_with_features

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("purpose", ["sign", "server"])
def test_a_secret_is_shown_in_the_answer_to_its_making_and_nowhere_else(
    manager: Client, site: Site, purpose: str
) -> None:
    response = manager.post(page(site, "keys/"), {"purpose": purpose})
    found = re.search(r'id="new-secret"[^>]*><code>(\w\w_[\w-]+)', response.content.decode())
    assert found
    assert "no-store" in response["Cache-Control"]
    key = SiteKey.objects.get()
    known = {
        "sign": lambda: signing_secrets(site)[key.kid].decode() == found[1],
        "server": lambda: find_server_key(site.public_key, found[1]) is not None,
    }
    assert known[purpose]()
    again = manager.get(page(site, "install/")).content.decode()
    assert found[1] not in again
    assert key.kid in again


def test_another_sites_key_is_not_revoked_here(manager: Client, site: Site) -> None:
    kid, _ = signing_secret(site_with_features(site.project))
    assert manager.post(page(site, f"keys/{kid}/revoke/")).status_code == 404
    assert SiteKey.objects.get().revoked_at is None


def test_the_preview_asks_for_this_servers_origin_first(manager: Client, site: Site) -> None:
    response = manager.get(page(site, "preview/"))
    assert "may not embed the site yet" in words(response)
    assert "data-site" not in response.content.decode()
    manager.post(page(site, "install/allow-here/"))
    site.refresh_from_db()
    assert site.allowed_origins[-1] == "http://testserver"
    html = manager.get(page(site, "preview/")).content.decode()
    assert f'data-site="{site.public_key}" data-mode="companion"' in html


def test_the_preview_signs_in_who_looks_where_the_site_asks_for_it(
    manager: Client, site: Site
) -> None:
    manager.post(page(site, "install/allow-here/"))
    Site.objects.update(identity="verified")
    assert "Create a signing secret" in words(manager.get(page(site, "preview/")))
    kid, secret = signing_secret(site)
    response = manager.get(page(site, "preview/"))
    found = re.search(r'data-ident="([^"]+)"', response.content.decode())
    assert found
    ident = read_ident(
        found[1], {kid: secret.encode()}, audience=site.public_key, now=datetime.now(UTC)
    )
    assert ident.sub.startswith("preview-")
    assert "no-store" in response["Cache-Control"]
