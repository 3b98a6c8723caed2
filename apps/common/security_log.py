"""The log of sign-ins, refusals and deletions, which no level switches off.

``security.info("recorded", action="project.deleted")``: names and ids, never texts.
"""

import structlog

SECURITY = "labelhub.security"
security = structlog.get_logger(SECURITY)
