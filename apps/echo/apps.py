from django.apps import AppConfig
from django.db.models.signals import post_save


class EchoConfig(AppConfig):
    name = "apps.echo"

    def ready(self) -> None:
        """Register Echo with the app that asks authors."""
        from apps.authors.models import Erasure  # noqa: PLC0415 - apps are loaded then
        from apps.authors.services import site_config  # noqa: PLC0415 - the same
        from apps.echo.services.learning import forget_erased_author  # noqa: PLC0415 - the same
        from apps.echo.services.offer_delivery import EchoOffers  # noqa: PLC0415 - the same
        from apps.echo.services.selection import chooser_for  # noqa: PLC0415 - the same

        site_config.register_chooser(chooser_for)
        site_config.register_offers(EchoOffers())
        post_save.connect(forget_erased_author, sender=Erasure)
