"""The widget's modules as they are served: joined and shortened, without a build step.

``literals`` takes strings, templates and regular expressions out of a source, so that ``joining``
never takes what is quoted for code.
"""

from apps.authors.bundle.joining import joined

__all__ = ["joined"]
