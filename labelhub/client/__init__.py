"""LabelHub from Python, on httpx alone: import, review, run, wait, export.

::

    client = Client("http://127.0.0.1:8000", key)
    project = client.project("hotel-reviews")
    project.import_items("reviews.jsonl")
    project.preannotate(protocol="vote").wait()
    frame = project.export().to_dataframe()

:class:`AsyncClient` has the same methods to be awaited. The guide is ``docs/client.md``.
"""

from labelhub.client.asynchronous import (
    AsyncClient,
    AsyncExport,
    AsyncProjectClient,
    AsyncRunClient,
)
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
from labelhub.client.progress import Bar, Progress
from labelhub.client.records import (
    Annotator,
    Decision,
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
    Skipped,
    Suggestion,
    Task,
)
from labelhub.client.reports import Agreement, Evaluation
from labelhub.client.runs import Debate, Run, RunInList, RunProgress, RunRole
from labelhub.client.sending import Retries
from labelhub.client.sync import Client, Export, ProjectClient, RunClient

__all__ = [
    "Agreement",
    "Annotator",
    "AnswerLost",
    "AsyncClient",
    "AsyncExport",
    "AsyncProjectClient",
    "AsyncRunClient",
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
