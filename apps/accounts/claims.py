"""Groups in what a provider says of a person."""

import logging
from collections.abc import Mapping
from typing import Any

from django.conf import settings

logger = logging.getLogger(__name__)


def claimed_groups(claims: Mapping[str, Any]) -> frozenset[str]:
    """The groups in the claim of the settings; dots lead into objects, as in
    ``realm_access.roles``. A claim that is missing means no groups: a person who was taken out of
    the last one has none."""
    name: str = settings.LABELHUB_SSO_GROUPS_CLAIM
    value: Any = claims.get(name)
    if value is None and "." in name:
        value = claims
        for part in name.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
    if value is None and (name in (claims.get("_claim_names") or {}) or claims.get("hasgroups")):
        logger.warning(
            "the provider left out the groups of %s, who is in too many: let it send only those "
            "that are assigned to this application",
            claims.get("sub"),
        )
    found = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    return frozenset(group for group in found if isinstance(group, str) and group)
