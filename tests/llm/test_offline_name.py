"""The built-in provider has one name in the database, whoever needs it first."""

import pytest
from django.utils.translation import override

from apps.llm.models import Provider
from apps.llm.services import ensure_builtin


@pytest.mark.django_db
def test_the_text_matcher_is_stored_in_english() -> None:
    Provider.objects.filter(kind=Provider.Kind.OFFLINE).delete()
    with override("de"):
        provider = ensure_builtin().provider
    assert type(provider.name) is str
    assert Provider.objects.get(pk=provider.pk).name == "Text matcher (demo)"
