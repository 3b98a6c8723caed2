"""System checks of production."""

from typing import Any

from django.conf import settings
from django.core import checks
from django.core.checks import CheckMessage, Tags, register


@register(Tags.security, deploy=True)
def check_text_keys(**_: Any) -> list[CheckMessage]:
    """Whether encrypted texts have a key of their own."""
    if settings.LABELHUB_TEXT_KEYS:
        return []
    return [
        checks.Warning(
            "LABELHUB_TEXT_KEYS is not set, so the secret key encrypts authors' texts, signing "
            "secrets and the keys of model providers.",
            hint="Set it to a long random text, a comma and the secret key, and run 'reseal'. Then "
            "either key can be changed without losing anything: see docs/backup.md.",
            id="labelhub.W001",
        )
    ]
