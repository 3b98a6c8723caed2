"""HTTP only, for those who must; live progress then falls back to polling."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "labelhub.settings.prod")
application = get_wsgi_application()
