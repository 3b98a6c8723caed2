"""Django's ``createsuperuser``, recorded in the audit log."""

from typing import Any

from django.contrib.auth.management.commands import createsuperuser
from django.db import transaction

from apps.accounts.models import User
from apps.common.audit import Action, acting, record


class Command(createsuperuser.Command):
    def handle(self, *args: Any, **options: Any) -> str | None:
        """Create the account, and record that."""
        with acting(via="command createsuperuser"), transaction.atomic():
            newest = User.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
            output = super().handle(*args, **options)
            for user in User.objects.filter(pk__gt=newest, is_superuser=True):
                record(Action.USER_CREATED, user, changes={"superuser": (None, True)})
        return output
