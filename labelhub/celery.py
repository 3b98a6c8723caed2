"""The Celery application. ``labelhub/__init__`` does not import it, to keep the core free of it."""

import os

from celery import Celery

# For ``celery -A labelhub.celery``; our own commands set it before.
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "labelhub.settings.prod")

app = Celery("labelhub")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
# Every worker process imports this module, which starts its housekeeping.
app.conf.imports = ("labelhub.worker",)
