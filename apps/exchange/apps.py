from django.apps import AppConfig
from django.db.models.signals import post_save


class ExchangeConfig(AppConfig):
    name = "apps.exchange"

    def ready(self) -> None:
        from apps.authors.models import Erasure  # noqa: PLC0415 - not before
        from apps.exchange.saved.services import drop_files  # noqa: PLC0415 - the same

        post_save.connect(drop_files, sender=Erasure)
