"""Chainable, meaning-bearing filters of accounts."""

from typing import TYPE_CHECKING

from django.db import models

if TYPE_CHECKING:
    from apps.accounts.models import ApiKey  # noqa: F401 - of the base below


class ApiKeyQuerySet(models.QuerySet["ApiKey"]):
    """API keys."""

    def active(self) -> "ApiKeyQuerySet":
        """Keys that still open the door."""
        return self.filter(revoked_at__isnull=True, user__is_active=True)
