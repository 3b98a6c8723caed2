"""Topics of a message that its author is not asked about."""

from labelhub.core.interview.sensitive.topics import Sensitive, sensitive_topic

__all__ = ["Sensitive", "sensitive_topic"]
