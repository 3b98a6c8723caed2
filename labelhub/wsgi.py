"""HTTP without websockets; pages then poll for progress."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "labelhub.settings.prod")
application = get_wsgi_application()
