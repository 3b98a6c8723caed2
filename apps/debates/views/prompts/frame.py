"""What the pages of prompts share."""

import re
from collections.abc import Sequence
from typing import Any

from apps.accounts.http import SignedInRequest
from apps.accounts.roles import Role
from apps.debates.models import Debate
from apps.debates.selectors.prompts import latest_debate, prompt_items
from apps.debates.services import prompts
from apps.projects.models import Item, Project
from apps.projects.pages import project_page
from labelhub.core.errors import Conflict, LabelhubError
from labelhub.core.prompts import Prompt

LONGEST_QUERY = 200
#: Inputs that come from the project and the item; all others from what was said before.
_OWN = {"task", "question", "labels", "guideline", "item", "name"}
_CODE = re.compile(r"(\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\})", re.DOTALL)


def frame(request: SignedInRequest, project: Project) -> dict[str, Any]:
    """The project's frame with the prompts marked as where one is."""
    page = project_page(request, project, "prompts")
    return page | {"manages": page["role"] == Role.MANAGER}


def chosen_version(
    request: SignedInRequest, versions: Sequence[prompts.Version], name: str = "version"
) -> prompts.Version:
    """The version in the address, by default the present text.

    Raises:
        NotFound: the project knows none of that hash.
    """
    return prompts.version_called(versions, request.GET.get(name, ""))


def marked(text: str) -> list[tuple[str, bool]]:
    """A template in pieces, and whether each is code."""
    return [(piece, bool(at % 2)) for at, piece in enumerate(_CODE.split(text)) if piece]


def shown_for(request: SignedInRequest, project: Project, prompt: Prompt) -> dict[str, Any]:
    """What ``prompt`` renders to for the first item that is found, and which others there are."""
    query = request.GET.get("q", "").strip()[:LONGEST_QUERY]
    found = prompt_items(project, query)
    context: dict[str, Any] = {"query": query, "found": found[1:]}
    if not found:
        return context
    try:
        context["rendering"] = _rendering(request, project, prompt, found[0])
    except LabelhubError as error:
        context["refusal"] = error.message
    return context


def _rendering(
    request: SignedInRequest, project: Project, prompt: Prompt, item: Item
) -> prompts.Rendering:
    """With the replies of a real debate where there is one that came to this prompt."""
    debate: Debate | None = None
    if set(prompt.inputs) - _OWN:
        debate = latest_debate(project, item, prompt.protocol, request.user)
    try:
        return prompts.rendering(project, prompt, item, debate)
    except Conflict:
        return prompts.rendering(project, prompt, item)
