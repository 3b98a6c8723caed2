"""Start-up: load the Celery app, so that shared tasks bind to it."""

import gc

from django.apps import AppConfig
from django.contrib.admin.apps import AdminConfig


class LabelhubConfig(AppConfig):
    """The composition root."""

    name = "labelhub"

    def ready(self) -> None:
        """Load the Celery app before any task is called, and tune the garbage collector."""
        # Modules and models live as long as the process; collecting them again and again took a
        # third of an import's time.
        gc.freeze()
        gc.set_threshold(50_000, 20, 20)
        from labelhub.celery import app  # noqa: PLC0415 - settings must be loaded first

        app.set_default()


class LabelhubAdminConfig(AdminConfig):
    """The admin console, under this module's name in settings."""
