"""Instructions that searches have found: which are in use, put back, switched off."""

from collections.abc import Mapping

from django.db import transaction

from apps.echo.models import Echo, PromptSearch
from labelhub.core.echo.prediction import instruction_faults
from labelhub.core.errors import Conflict


def instructions_of(echo: Echo) -> Mapping[str, str]:
    """The instruction in use for each feature that has one. What has faults by the rules of today
    is left out."""
    rows = echo.searches.filter(active=True).exclude(instruction="")
    found = dict(rows.values_list("feature", "instruction"))
    return {key: text for key, text in found.items() if not instruction_faults(text)}


@transaction.atomic
def use_instruction(search: PromptSearch) -> PromptSearch:
    """Predict the feature with what this search found, from now on; also to go back to it.

    Raises:
        Conflict: it found nothing, or what by the rules of today is not used.
    """
    # Of two who change it at once, the second one has the word.
    Echo.objects.select_for_update(no_key=True).get(pk=search.echo_id)
    if search.status != PromptSearch.Status.BETTER:
        raise Conflict("This search found no instruction; take one that did.")
    if faults := instruction_faults(search.instruction):
        raise Conflict(f"By the rules of today it may not be used. {faults[0].detail}")
    drop_instruction(search.echo, search.feature)
    search.active = True
    search.save(update_fields=["active"])
    return search


def drop_instruction(echo: Echo, feature: str) -> bool:
    """Predict the feature without an instruction from now on; whether there was one."""
    return bool(echo.searches.filter(feature=feature, active=True).update(active=False))
