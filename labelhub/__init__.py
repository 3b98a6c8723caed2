"""LabelHub's composition root and pure core."""

import sys
from pathlib import Path

_PACKED = Path(__file__).parent / "_root"
IS_INSTALLED = _PACKED.is_dir()
#: The folder of apps/, templates/, static/, prompts/ and locale/: the top of a checkout. The wheel
#: has them inside this package, so that nothing else lies in somebody's site-packages.
ROOT = _PACKED if IS_INSTALLED else Path(__file__).parent.parent
#: How people start a management command.
COMMAND = "labelhub" if IS_INSTALLED else "python manage.py"

if IS_INSTALLED:
    sys.path.insert(0, str(ROOT))
