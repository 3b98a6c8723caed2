#!/usr/bin/env python
"""Django's command line; ``labelhub.settings.dev`` unless DJANGO_SETTINGS_MODULE says otherwise."""

from labelhub.__main__ import DEMO, run_command

if __name__ == "__main__":
    run_command(DEMO)
