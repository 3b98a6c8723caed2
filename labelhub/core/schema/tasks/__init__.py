"""The label types by name, one class in one file each. All differences between types are in them.

A new type is a new file here and its name in ``TASKS``; see "Add a label type" in
``docs/developers.md``.
"""

from labelhub.core.schema.tasks.base import TASKS, LabelType
from labelhub.core.schema.tasks.multi import Multi
from labelhub.core.schema.tasks.ordinal import Ordinal
from labelhub.core.schema.tasks.per_item import PerItem
from labelhub.core.schema.tasks.single import Single
from labelhub.core.schema.tasks.text import Text

__all__ = ["TASKS", "LabelType"]

_TEXT = Text()
TASKS.update({task.name: task for task in (Single(), Multi(), Ordinal(), _TEXT, PerItem(_TEXT))})
