"""Start-up of the whole: the Celery app, so that shared tasks bind to ours and to no default."""

import gc

from django.apps import AppConfig
from django.contrib.admin.apps import AdminConfig


class LabelhubConfig(AppConfig):
    """The composition root."""

    name = "labelhub"

    def ready(self) -> None:
        """Load the Celery app before any task is called, and settle the garbage collector."""
        # The objects of modules and models live as long as the process; looking through them every
        # few hundred allocations took a third of an import's time.
        gc.freeze()
        gc.set_threshold(50_000, 20, 20)
        from labelhub.celery import app  # noqa: PLC0415 - settings must be loaded first

        app.set_default()


class LabelhubAdminConfig(AdminConfig):
    """The admin console, found by its own module name in settings."""
