"""Django's ``changepassword``, recorded in the audit log."""

import getpass
from typing import Any

from django.contrib.auth.management.commands import changepassword
from django.db import transaction

from apps.accounts.selectors import get_user
from apps.common.audit import Action, acting, record


class Command(changepassword.Command):
    def handle(self, *args: Any, **options: Any) -> str | None:
        """Change the password, and record that."""
        with acting(via="command changepassword"), transaction.atomic():
            output = super().handle(*args, **options)
            record(Action.PASSWORD_SET, get_user(options["username"] or getpass.getuser()))
        return output
