"""Personal data in what authors write, taken out before anything else reads it.

``redact`` is the one way in. It knows forms and checksums, whatever the language; names, places and
addresses need ``finder()`` and the optional extra behind it. People may still be known by what they
tell: redaction lowers a risk, it does not remove it.
"""

from labelhub.core.interview.redaction.detectors import Finding, NameFinder
from labelhub.core.interview.redaction.model import finder
from labelhub.core.interview.redaction.redacting import Redacted, redact

__all__ = ["Finding", "NameFinder", "Redacted", "finder", "redact"]
