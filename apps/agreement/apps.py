from django.apps import AppConfig
from django.db.models.signals import post_save


class AgreementConfig(AppConfig):
    name = "apps.agreement"

    def ready(self) -> None:
        """Models can be imported from here on."""
        from apps.agreement.receivers import forget_reports  # noqa: PLC0415 - not before
        from apps.authors.models import Erasure  # noqa: PLC0415 - the same

        post_save.connect(forget_reports, sender=Erasure)
