"""Endings of host names that are taken for one even without "www" or "https" before.

Endings that are words too ("is", "me") count only before a path or where a sentence ends: a full
stop without a blank after it would make links of ordinary sentences. Left out are kinds of files
("py", "name").
"""

_GENERIC = (
    "com|org|net|edu|gov|mil|int|info|biz|dev|app|io|ai|co|tv|cc|xyz|online|shop|store|site|website"
    "|club|blog|cloud|tech|agency|digital|live|news|page|link|space|email|pro|mobi|academy|studio"
)
_COUNTRIES = (
    "ae|ar|at|au|be|bg|br|ca|ch|cl|cn|cr|cy|cz|de|dk|ec|ee|eg|es|eu|fi|fr|gl|gr|hk|hr|hu|ie|il|ir"
    "|jp|ke|kr|kz|lt|lu|lv|ma|mx|my|ng|nl|nz|pe|ph|pk|pl|pt|ro|rs|ru|sa|sc|se|sg|si|sk|su|th|tn|tr"
    "|tw|ua|uk|us|uy|uz|ve|vn|za"
)
#: For a pattern that ignores case.
ENDINGS = f"{_GENERIC}|{_COUNTRIES}"
#: Counted only where a sentence or a word of a path shows it.
WORD_ENDINGS = "is|it|in|be|no|me|to|so|am|as|do|id|la"
