"""LabelHub from Python, on httpx alone: import, review, run, wait, export.

::

    client = Client("http://127.0.0.1:8000", key)
    project = client.project("hotel-reviews")
    project.import_items("reviews.jsonl")
    project.preannotate(protocol="vote").wait()
    frame = project.export().to_dataframe()

The guide is ``docs/client.md``.
"""

from labelhub.client.client import Client, ProjectClient, RunClient
from labelhub.client.errors import (
    AnswerLost,
    ClientError,
    Conflict,
    Fault,
    Forbidden,
    Invalid,
    NotAuthenticated,
    NotFound,
    PandasMissing,
    Problem,
    Refused,
    RunStopped,
    ServerFault,
    ServerUnreachable,
    TimedOut,
    TooManyRequests,
    UnexpectedAnswer,
    WaitedTooLong,
    WrongUse,
)
from labelhub.client.exports import Export
from labelhub.client.progress import Bar, Progress
from labelhub.client.records import (
    Agreement,
    Annotator,
    Debate,
    Decision,
    Evaluation,
    Figure,
    Gold,
    ImportOutcome,
    Item,
    ItemStanding,
    Label,
    LabelDef,
    LabelSchema,
    Lease,
    ModelInfo,
    Project,
    RowFault,
    Run,
    RunInList,
    RunProgress,
    RunRole,
    Skipped,
    Suggestion,
    Task,
)
from labelhub.client.transport import Retries

__all__ = [
    "Agreement",
    "Annotator",
    "AnswerLost",
    "Bar",
    "Client",
    "ClientError",
    "Conflict",
    "Debate",
    "Decision",
    "Evaluation",
    "Export",
    "Fault",
    "Figure",
    "Forbidden",
    "Gold",
    "ImportOutcome",
    "Invalid",
    "Item",
    "ItemStanding",
    "Label",
    "LabelDef",
    "LabelSchema",
    "Lease",
    "ModelInfo",
    "NotAuthenticated",
    "NotFound",
    "PandasMissing",
    "Problem",
    "Progress",
    "Project",
    "ProjectClient",
    "Refused",
    "Retries",
    "RowFault",
    "Run",
    "RunClient",
    "RunInList",
    "RunProgress",
    "RunRole",
    "RunStopped",
    "ServerFault",
    "ServerUnreachable",
    "Skipped",
    "Suggestion",
    "Task",
    "TimedOut",
    "TooManyRequests",
    "UnexpectedAnswer",
    "WaitedTooLong",
    "WrongUse",
]
