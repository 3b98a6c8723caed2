"""LabelHub from Python, on httpx alone: import, review, run, wait, export.

::

    client = Client("http://127.0.0.1:8000", key)
    project = client.project("hotel-reviews")
    project.import_items("reviews.jsonl")
    project.preannotate(protocol="vote").wait()
    frame = project.export().to_dataframe()
    client.call("experiment_start", slug="hotel-reviews", json={...})  # anything else

What the server answers with are records: see :class:`Record`.
"""

from labelhub_client.api import Api, Feed, Operation, Retries, operations
from labelhub_client.client import Client, ProjectClient, RunClient
from labelhub_client.errors import (
    AnswerLost,
    ClientError,
    Conflict,
    Fault,
    FieldMissing,
    Forbidden,
    Invalid,
    NotAuthenticated,
    NotFound,
    PandasMissing,
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
from labelhub_client.exchange import Export
from labelhub_client.progress import Bar, Progress
from labelhub_client.records import Record

__all__ = [
    "AnswerLost", "Api", "Bar", "Client", "ClientError", "Conflict", "Export", "Fault",
    "Feed", "FieldMissing", "Forbidden", "Invalid", "NotAuthenticated", "NotFound", "Operation",
    "PandasMissing", "Progress", "ProjectClient", "Record", "Refused", "Retries", "RunClient",
    "RunStopped", "ServerFault", "ServerUnreachable", "TimedOut", "TooManyRequests",
    "UnexpectedAnswer", "WaitedTooLong", "WrongUse", "operations",
]  # fmt: skip
