"""What happens elsewhere and concerns what Echo has learnt."""

from typing import Any

from django.db.models import F

from apps.authors.models import Erasure
from apps.echo.models import Echo, SearchReply


def learn_without_them(instance: Erasure, **_signal: Any) -> None:
    """Whose data was deleted has taught nothing: their events are gone, the rest is learnt anew.
    What models said in a search that is under way may have been said of their words."""
    SearchReply.objects.filter(search__echo=instance.site_id).delete()
    Echo.objects.filter(site=instance.site_id).update(erased=F("erased") + 1)
