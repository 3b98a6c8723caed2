from django.apps import AppConfig


class LabelsConfig(AppConfig):
    name = "apps.labels"
