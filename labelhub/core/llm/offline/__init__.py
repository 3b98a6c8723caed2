"""The offline model: text matching that plays every role of a debate. Not a language model."""

from labelhub.core.llm.offline.model import OfflineModel

__all__ = ["OfflineModel"]
