"""Values of features as people read them: not the keys under which programs know them."""

from labelhub.core.interview.features import Feature as Definition
from labelhub.core.interview.features import derived_words


def value_words(feature: Definition | None, value: str) -> str:
    """The words of its English option where there is one; free text stays as it is."""
    if feature is None or value not in feature.values:
        return value
    ready = feature.template("en")
    options = (ready.options if ready else None) or derived_words(feature, "en")
    return options.get(value) or value.replace("_", " ")
