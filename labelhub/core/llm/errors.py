"""What can go wrong between us and a model, by what it means for the run."""

from typing import ClassVar

from labelhub.core.errors import LabelhubError


class ModelError(LabelhubError):
    """A call failed for good after its retries; the item stays resumable."""

    code = "model_failed"
    http_status = 502
    stops_run: ClassVar[bool] = False


class ModelUnreachable(ModelError):
    """Nobody answers: refused connection, time-outs, 5xx in a row. The run pauses."""

    code = "provider_unreachable"
    retryable = True
    stops_run = True


class WrongKey(ModelError):
    """401 or 403: going on is pointless until somebody changes the key."""

    code = "wrong_key"
    stops_run = True


class UnknownModel(ModelError):
    """404: the provider has no model of that name."""

    code = "unknown_model"
    stops_run = True


class QuotaExhausted(ModelError):
    """The provider will take no more for a while; ``data['resume_after']`` in seconds if known."""

    code = "quota_exhausted"
    retryable = True
    stops_run = True


class OnlyThinks(ModelError):
    """Answer after answer was all thinking, with the most room there is: so will the others be."""

    code = "only_thinks"
    stops_run = True


class RequestRejected(ModelError):
    """400: this request is refused as it stands (too long, unsupported parameter)."""

    code = "request_rejected"


class ContextTooLong(RequestRejected):
    """400: the messages do not fit into the model's context; a shorter text may."""

    code = "context_length"
