#!/usr/bin/env python
"""Django's command line; ``labelhub.settings.dev`` unless DJANGO_SETTINGS_MODULE says otherwise."""

import os
import sys


def main() -> None:
    """Run one command."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "labelhub.settings.dev")
    from django.core.exceptions import ImproperlyConfigured  # noqa: PLC0415 - needs the line above
    from django.core.management import execute_from_command_line  # noqa: PLC0415 - the same

    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.exit(f"{error}")


if __name__ == "__main__":
    main()
