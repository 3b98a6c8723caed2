"""Files in: upload, import, resume. One path for pages, REST and commands."""

from apps.exchange.services.labelfile import LabelFileResult, import_label_file
from apps.exchange.services.running import run_import, unfinished_imports
from apps.exchange.services.uploads import (
    cancel_upload,
    queue_import,
    receive_upload,
    store_upload,
    sweep_uploads,
)

__all__ = [
    "LabelFileResult",
    "cancel_upload",
    "import_label_file",
    "queue_import",
    "receive_upload",
    "run_import",
    "store_upload",
    "sweep_uploads",
    "unfinished_imports",
]
