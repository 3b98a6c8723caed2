"""Where a provider's key comes from."""

import os

from apps.llm import troubles
from apps.llm.models import Provider
from apps.llm.services import may_hold_a_key

#: Sent to endpoints that need no key: the client insists on one.
NO_KEY = "none"


def provider_key(provider: Provider) -> str:
    """The key of ``provider`` from the environment.

    Raises:
        WrongKey: the variable is not set, not one for keys, or holds what no header can carry.
    """
    if not provider.api_key_env:
        return NO_KEY
    if not may_hold_a_key(provider.api_key_env):
        raise troubles.no_key_variable(provider)
    key = os.environ.get(provider.api_key_env, "").strip()
    if not key:
        raise troubles.missing_key(provider)
    if not (key.isascii() and key.isprintable()):
        raise troubles.unusable_key(provider)
    return key
