"""Personal data in what authors write, taken out before anything else reads it.

``redact`` is the one way in. It knows shapes, checksums and words that announce personal data;
names and places that nothing announces need ``finder()`` and the optional extra behind it. People
may still be known by what they tell: redaction lowers a risk, it does not remove it.
"""

from labelhub.core.interview.redaction.finding import Finding, NameFinder, Redacted
from labelhub.core.interview.redaction.model import finder
from labelhub.core.interview.redaction.redacting import redact

__all__ = ["Finding", "NameFinder", "Redacted", "finder", "redact"]
