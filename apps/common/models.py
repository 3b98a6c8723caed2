"""What the platform itself remembers."""

from django.db import models


class WorkerSign(models.Model):
    """When any worker last showed that it lives: one row for all of them."""

    seen_at = models.DateTimeField()
