"""The log of sign-ins, refusals and deletions, which no level switches off.

``security.info("recorded", action="project.deleted")``: names and ids, never texts.
"""

import structlog

security = structlog.get_logger("labelhub.security")
