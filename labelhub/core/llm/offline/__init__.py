"""The offline model: word matching that plays every role of a debate. No language model."""

from labelhub.core.llm.offline.model import OfflineModel

__all__ = ["OfflineModel"]
