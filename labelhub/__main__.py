"""The command ``labelhub``: every management command, with the settings that fit it."""

import os
import sys
import tempfile

from labelhub.core.version import NAME, VERSION

DEMO, PRODUCTION = "labelhub.settings.dev", "labelhub.settings.prod"
#: Never with the generated secret of a demo.
ALWAYS_PRODUCTION = ("serve", "worker")


def main() -> None:
    """Run one command; DJANGO_SETTINGS_MODULE overrides the choice of settings."""
    arguments = sys.argv[1:]
    if arguments == ["--version"]:
        sys.stdout.write(f"{NAME} {VERSION}\n")
    elif not arguments or arguments[0] == "help" or {"-h", "--help"} & set(arguments):
        # Help needs no secret, and leaves no data folder behind.
        with tempfile.TemporaryDirectory() as folder:
            os.environ["LABELHUB_DATA_DIR"] = folder
            run_command(DEMO)
    else:
        run_command(settings_for(arguments[0]))


def settings_for(command: str) -> str:
    """``demo`` has settings of its own, with a secret in its data folder. Other commands take them
    only where a demo has been: with a second secret they would write what the server cannot read.
    """
    from labelhub.settings.environment import data_folder  # noqa: PLC0415 - imports Django

    if command == "demo":
        return DEMO
    given = {"LABELHUB_SECRET_KEY", "LABELHUB_SECRET_KEY_FILE"} & set(os.environ)
    is_demo = (data_folder() / "secret-key").exists() and not given
    return DEMO if is_demo and command not in ALWAYS_PRODUCTION else PRODUCTION


def run_command(settings: str) -> None:
    """Run the command of ``sys.argv``; wrong settings are one line."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", settings)
    from django.core.exceptions import ImproperlyConfigured  # noqa: PLC0415 - needs the line above
    from django.core.management import execute_from_command_line  # noqa: PLC0415 - the same

    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.exit(f"{error}")


if __name__ == "__main__":
    main()
