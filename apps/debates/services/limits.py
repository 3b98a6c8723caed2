"""What holds a run back just now, in words for its page."""

from apps.debates.services.asker import Models
from apps.debates.services.scripts import Script


def limited_by(script: Script, models: Models, calls: int) -> str:
    """Why there are ``calls`` calls under way and no more; empty when nothing is in the way."""
    if script.offline:
        return "This machine: the offline model works here."
    for provider in {model.provider for model in script.models if not model.offline}:
        limit = models.limit_of(provider)
        if calls >= limit >= provider.max_concurrency:
            return f"The setting for {provider.name}: at most {limit} calls at a time."
        if calls >= limit:
            return (
                f"{provider.name}: it is asked {limit} calls at a time, as many as it took so far."
            )
    return ""
