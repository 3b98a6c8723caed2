"""Part of building the wheel: collect the static files and compile the translations.

So no installed command has to, and LabelHub runs on a file system that it cannot write to.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class LabelhubBuildHook(BuildHookInterface[Any]):
    """Adds ``collected/`` and ``locale/`` to the wheel; an editable one uses the checkout's."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Let Django make both folders in a data folder that lives as long as the build."""
        if version == "editable":
            return
        self._made = tempfile.TemporaryDirectory()
        folder = Path(self._made.name)
        environ = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "labelhub.settings.prod",
            "LABELHUB_DATA_DIR": str(folder),
            "LABELHUB_SECRET_KEY": "only-for-this-build".ljust(50, "."),
        }
        command = [sys.executable, "manage.py", "collectstatic", "--noinput", "--verbosity", "0"]
        subprocess.run(command, cwd=self.root, env=environ, check=True)  # noqa: S603 - our own program
        for source in folder.glob("locale/*/LC_MESSAGES/*.po"):
            source.unlink()
        target = "labelhub/_root"
        build_data["force_include"] |= {
            str(folder / "static"): f"{target}/collected",
            str(folder / "locale"): f"{target}/locale",
        }

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what lies in the wheel now."""
        if version != "editable":
            self._made.cleanup()
