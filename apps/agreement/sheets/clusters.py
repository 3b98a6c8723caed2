"""Items that belong together: the messages of an author, the sentences of a document.

Whoever wrote one wrote the other, so they are drawn together when an interval is made.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from django.db.models.fields.json import KeyTextTransform

from apps.authors.models import Question
from apps.projects.models import Item, Project
from apps.projects.selectors import CLUSTER_KEYS
from labelhub.core.agreement.ratings import Ints

#: Items whose meta data are looked at for a key.
LOOKED_AT = 500


class Clusters(NamedTuple):
    """A number for each item, from 0 without gaps, and what the numbers stand for."""

    numbers: Ints
    unit: str


def clusters_of(
    project: Project, item_ids: Ints, authors: Mapping[int, int] | None = None
) -> Clusters | None:
    """By the author of a site's question, else a known key of the meta data, else ``authors``.

    An item without any of these is a cluster of its own. None where nothing belongs together.

    Args:
        authors: item → annotator, of the authors' own labels. One annotator for all of them is no
            person but a name for whoever wrote.
    """
    asked = Question.objects.filter(item__project=project)
    owners: dict[int, object] = dict(asked.values_list("item_id", "author_id"))
    unit = "authors"
    if not owners:
        items = Item.objects.filter(project=project)
        key = _key_of(items.order_by("pk").values_list("meta", flat=True)[:LOOKED_AT])
        if key is not None:
            told = items.annotate(told=KeyTextTransform(key, "meta"))
            owners, unit = dict(told.values_list("pk", "told")), CLUSTER_KEYS[key]
        elif authors and len(set(authors.values())) > 1:
            owners = dict(authors)
    # One database gives JSON's null as a text.
    owners = {item: who for item, who in owners.items() if who not in (None, "", "null")}
    if not owners:
        return None
    named = [owners.get(item, f"item {item}") for item in item_ids.tolist()]
    number: dict[object, int] = {}
    numbers = np.array([number.setdefault(name, len(number)) for name in named], dtype=np.int64)
    return Clusters(numbers, unit) if len(number) < len(named) else None


def _key_of(metas: Iterable[Any]) -> str | None:
    """The known key that most of these items have, the widest among equals; None without any."""
    often = Counter(
        key for meta in metas for key in CLUSTER_KEYS if (meta or {}).get(key) is not None
    )
    return max(CLUSTER_KEYS, key=lambda key: often[key]) if often else None
