"""The log of sign-ins, refusals and deletions, which no level switches off.

``security.info("%s deleted the project %s", actor, slug)``: names and ids, never texts.
"""

import logging

SECURITY = "labelhub.security"
security = logging.getLogger(SECURITY)
