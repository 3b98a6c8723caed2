"""The Celery application. Not imported by ``labelhub/__init__``: the core must stay free of it."""

import os

from celery import Celery

# For ``celery -A labelhub.celery worker``; manage.py and the servers have set it before.
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "labelhub.settings.prod")

app = Celery("labelhub")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
# Every worker process imports it at its start, whoever starts it: there it learns to keep house.
app.conf.imports = ("labelhub.worker",)
