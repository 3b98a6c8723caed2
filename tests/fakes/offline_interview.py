"""An interview whose models are the offline one, asked one call after the other."""

from pathlib import Path

from labelhub.core.interview.calls import ROLES
from labelhub.core.interview.pipeline import AuthorMessage, InterviewPlan, InterviewResult, ask
from labelhub.core.llm.offline import OfflineModel
from labelhub.core.llm.parsing import read_completion
from labelhub.core.llm.types import Call, Reply
from labelhub.core.prompts import PromptLibrary

_LIBRARY = PromptLibrary(Path(__file__).parents[2] / "prompts")
#: The prompts of an interview, by role.
PROMPTS = {role: _LIBRARY.get("interview", role) for role in ROLES}


async def said(call: Call) -> Reply:
    """What the offline model says to one call."""
    return read_completion(call, await OfflineModel().complete(call))


async def interviewed(text: str, plan: InterviewPlan, language: str = "en") -> InterviewResult:
    """What comes of a message."""
    run = ask(AuthorMessage(text, language), plan)
    try:
        calls = next(run)
        while True:
            calls = run.send([await said(call) for call in calls])
    except StopIteration as end:
        result: InterviewResult = end.value
        return result
