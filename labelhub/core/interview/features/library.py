"""The features that come with the product."""

import tomllib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from labelhub.core.interview.features.feature import Feature
from labelhub.core.interview.features.parsing import parse_feature

_LIBRARY = Path(__file__).parents[1] / "library"


@lru_cache(maxsize=1)
def starter_library() -> Mapping[str, Sequence[Feature]]:
    """The features that come with the product, by set ("shopping", "emotion")."""
    return {
        path.stem: tuple(map(parse_feature, tomllib.loads(path.read_text("utf-8"))["features"]))
        for path in sorted(_LIBRARY.glob("*.toml"))
    }
