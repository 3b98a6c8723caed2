"""Sites: made for a project that asks per item, changed field by field, with keys told once."""

from typing import Any

import pytest

from apps.authors.models import Site, SiteKey
from apps.authors.selectors.sites import find_server_key, signing_secrets
from apps.authors.services.sites import (
    add_key,
    create_site,
    revoke_key,
    set_consent_text,
    update_site,
)
from apps.common.sealing import unseal
from labelhub.core.errors import InvalidInput, NotFound
from labelhub.core.interview.features import starter_library
from tests.cases import all_cases
from tests.factories.authors import signing_secret, site_with_features
from tests.factories.projects import ProjectFactory

pytestmark = pytest.mark.django_db
SHOPPING = starter_library()["shopping"]


def test_a_project_that_asks_the_same_of_every_text_has_no_sites() -> None:
    with pytest.raises(InvalidInput, match="per_item"):
        create_site(project=ProjectFactory.create(), actor=None, name="Shop", features=SHOPPING)


@all_cases(
    ("given", "kept"),
    [
        ("https://Shop.Example.org/", "https://shop.example.org"),
        ("http://127.0.0.1:9000", "http://127.0.0.1:9000"),
        ("https://shop.example.org:443", "https://shop.example.org"),
        ("http://[::1]:8000", "http://[::1]:8000"),
    ],
)
def test_origins_are_kept_as_browsers_send_them(site: Site, given: str, kept: str) -> None:
    assert update_site(site=site, allowed_origins=[given, given]).allowed_origins == [kept]


@all_cases(
    "given",
    [
        "shop.example.org",
        "https://shop.example.org/path",
        "https://*.example.org",
        "*",
        "null",
        "ftp://shop.example.org",
        "https://user@shop.example.org",
        "https://",
        "https://shop.example.org:99999",
        "javascript:alert(1)",
    ],
)
def test_what_is_no_origin_is_refused_by_name(site: Site, given: str) -> None:
    with pytest.raises(InvalidInput, match="is not an origin"):
        update_site(site=site, allowed_origins=[given])


@pytest.mark.thorough
@pytest.mark.parametrize(
    "change",
    [
        {"languages": []},
        {"languages": ["xx"]},
        {"most_questions": 5},
        {"most_questions": 0},
        {"sampling": 1.5},
        {"every_messages": 0},
        {"privacy_url": "javascript:alert(1)"},
        {"retention_days": 0},
        {"keep_text": "everything"},
        {"public_key": "pk_mine"},
        {"project": None},
    ],
)
def test_what_a_field_cannot_be_is_refused(site: Site, change: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        update_site(site=site, **change)
    assert Site.objects.get().most_questions == site_with_features().most_questions


def test_a_changed_text_is_a_new_version_and_an_equal_one_none(site: Site) -> None:
    first = site.consent_texts.get()
    assert set_consent_text(site=site, texts=first.texts, actor=None) == first
    second = set_consent_text(site=site, texts={"en": "May we?"}, actor=None)
    assert second.version == 2


def test_a_server_key_is_kept_as_a_hash(site: Site) -> None:
    key, plain = add_key(site=site, purpose=SiteKey.Purpose.SERVER, actor=None)
    stored = SiteKey.objects.get(pk=key.pk)
    assert plain not in str(vars(stored))
    found = find_server_key(site.public_key, plain)
    assert found is not None
    assert found.site == site
    assert find_server_key(site_with_features().public_key, plain) is None


def test_a_signing_secret_is_kept_encrypted(site: Site) -> None:
    key, plain = add_key(site=site, purpose=SiteKey.Purpose.SIGN, actor=None)
    stored = SiteKey.objects.get(pk=key.pk)
    assert stored.sealed is not None
    assert plain.encode() not in bytes(stored.sealed)
    assert unseal(stored.sealed).decode() == plain


def test_while_a_secret_is_changed_both_are_good(site: Site) -> None:
    signing_secret(site_with_features())
    old, _ = add_key(site=site, purpose=SiteKey.Purpose.SIGN, actor=None)
    new, _ = add_key(site=site, purpose=SiteKey.Purpose.SIGN, actor=None)
    assert set(signing_secrets(site)) == {old.kid, new.kid}
    revoke_key(site=site, kid=old.kid)
    assert set(signing_secrets(site)) == {new.kid}
    with pytest.raises(NotFound):
        revoke_key(site=site, kid=old.kid)
