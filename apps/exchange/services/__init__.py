"""Files in: upload, import, resume. One path for pages, REST and commands."""

from apps.exchange.services.labelfile import LabelFileResult, import_label_file
from apps.exchange.services.running import run_import
from apps.exchange.services.uploads import (
    KIND,
    cancel_upload,
    queue_import,
    receive_upload,
    store_upload,
    sweep_uploads,
)

__all__ = [
    "KIND",
    "LabelFileResult",
    "cancel_upload",
    "import_label_file",
    "queue_import",
    "receive_upload",
    "run_import",
    "store_upload",
    "sweep_uploads",
]
