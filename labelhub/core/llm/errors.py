"""Errors of model calls, by their consequence for the run."""

from typing import ClassVar

from labelhub.core.errors import LabelhubError


class ModelError(LabelhubError):
    """A call failed after all retries; the item stays resumable."""

    code = "model_failed"
    http_status = 502
    stops_run: ClassVar[bool] = False
    #: What came back instead of an answer, for the test of a provider.
    failure: object = None


class ModelUnreachable(ModelError):
    """No answer: refused connection, time-outs, repeated 5xx. The run pauses."""

    code = "provider_unreachable"
    retryable = True
    stops_run = True


class WrongKey(ModelError):
    """401 or 403: every call fails until somebody changes the key."""

    code = "wrong_key"
    stops_run = True


class UnknownModel(ModelError):
    """404: the provider has no model of that name."""

    code = "unknown_model"
    stops_run = True


class QuotaExhausted(ModelError):
    """The provider takes no calls for a while; ``data['resume_after']`` in seconds if known."""

    code = "quota_exhausted"
    retryable = True
    stops_run = True


class OnlyThinks(ModelError):
    """Answers consisted only of thinking at the highest token limit, and so would further ones."""

    code = "only_thinks"
    stops_run = True


class RequestRejected(ModelError):
    """400: the provider refuses this request (too long, unsupported parameter)."""

    code = "request_rejected"


class ContextTooLong(RequestRejected):
    """400: the messages are longer than the model's context."""

    code = "context_length"
