"""Files in S3 or a server that speaks its protocol. Needs the extra ``labelhub[s3]``."""

from collections.abc import Callable, Iterator
from datetime import datetime
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from boto3.exceptions import Boto3Error
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from storages.backends.s3 import S3Storage
from storages.utils import clean_name

from labelhub.core.errors import Unavailable

Given = ParamSpec("Given")
Result = TypeVar("Result")

MISSING = {"404", "NoSuchKey", "NotFound"}


def _translated(method: Callable[Given, Result]) -> Callable[Given, Result]:
    @wraps(method)
    def call(*args: Given.args, **kwargs: Given.kwargs) -> Result:
        try:
            return method(*args, **kwargs)
        except (BotoCoreError, ClientError, Boto3Error) as error:
            raise _error_of(error) from error

    return call


def _error_of(error: Exception) -> Exception:
    if isinstance(error, ClientError) and error.response["Error"].get("Code") in MISSING:
        return FileNotFoundError(str(error))
    return Unavailable(
        "The file storage does not answer, or refuses the server (%(reason)s). Nothing is lost; "
        "try again in a moment.",
        reason=str(error),
    )


class SharedBucket(S3Storage):
    """A bucket whose errors are ours, and which keeps no file in memory."""

    def get_default_settings(self) -> dict[str, Any]:
        """Patience for seconds, not minutes; transfers in the thread that asked for them."""
        usual: dict[str, Any] = super().get_default_settings()
        return usual | {
            "client_config": Config(
                connect_timeout=5,
                read_timeout=30,
                retries={"total_max_attempts": 2, "mode": "standard"},
                s3={"addressing_style": "path" if self._settings.get("endpoint_url") else "auto"},
            ),
            "transfer_config": TransferConfig(use_threads=False),
            # boto3 finds credentials, roles of machines and their renewal included.
            "access_key": None,
            "secret_key": None,
            "security_token": None,
        }

    def __init__(self, **options: Any) -> None:
        self._settings = options
        super().__init__(**options)

    @_translated
    def save(self, name: str | None, content: Any, max_length: int | None = None) -> str:
        """Store a file; it appears when it is whole."""
        return str(super().save(name, content, max_length))

    @_translated
    def delete(self, name: str) -> None:
        """Delete a file; there may be none."""
        super().delete(name)

    @_translated
    def exists(self, name: str) -> bool:
        """Whether there is such a file."""
        return bool(super().exists(name))

    @_translated
    def listdir(self, name: str) -> tuple[list[str], list[str]]:
        """Folders and files."""
        return super().listdir(name)  # type: ignore[no-any-return]  # without types

    @_translated
    def get_modified_time(self, name: str) -> datetime:
        """When the file was stored."""
        return super().get_modified_time(name)  # type: ignore[no-any-return]  # as above

    def pieces(self, name: str, size: int) -> Iterator[bytes]:
        """Content in pieces. FileNotFoundError, before the first, if there is no such file."""
        read = _translated(self._body(name).read)
        return iter(lambda: read(size), b"")

    @_translated
    def _body(self, name: str) -> Any:
        key = self._normalize_name(clean_name(name))
        return self.bucket.Object(key).get()["Body"]
