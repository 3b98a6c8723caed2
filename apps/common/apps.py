from django.apps import AppConfig


class CommonConfig(AppConfig):
    name = "apps.common"

    def ready(self) -> None:
        """Phrases speak the reader's language; checks are registered."""
        from apps.common import checks  # noqa: F401, PLC0415 - settings are loaded first
        from apps.common.phrases import print_phrase  # noqa: PLC0415 - as above
        from labelhub.core.phrases import Phrase  # noqa: PLC0415 - as above

        Phrase.printer = print_phrase
