"""Signatures that are refused are told of, and cannot be used to fill a disk."""

from datetime import timedelta

import pytest
from django.utils import timezone

from apps.authors.models import Event
from apps.authors.services.authors import MOST_REFUSALS, check_ident
from labelhub.core.errors import LabelhubError
from tests.factories.authors import site_with_features

pytestmark = pytest.mark.django_db


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
