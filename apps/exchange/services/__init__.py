"""Files in: upload, import, resume. One path for pages, REST and commands."""

from apps.exchange.services.imports import (
    KIND,
    cancel_upload,
    queue_import,
    receive_upload,
    run_import,
    store_upload,
    sweep_uploads,
)
from apps.exchange.services.label_files import LabelFileResult, import_label_file

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
