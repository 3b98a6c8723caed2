from django.apps import AppConfig
from django.db.models.signals import post_save


class AgreementConfig(AppConfig):
    name = "apps.agreement"

    def ready(self) -> None:
        from apps.agreement.automation.guarantee import end_promise  # noqa: PLC0415 - not before
        from apps.agreement.report.services import forget_reports  # noqa: PLC0415 - the same
        from apps.authors.models import Erasure  # noqa: PLC0415 - the same
        from apps.projects.signals import labels_changed  # noqa: PLC0415 - the same

        labels_changed.connect(end_promise)
        post_save.connect(forget_reports, sender=Erasure)
