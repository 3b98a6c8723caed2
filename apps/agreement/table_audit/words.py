"""The form of the page, its words, and a table to try it on."""

from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile

from apps.agreement.table_audit.reading import LARGEST_FILE, Asked, read_bytes
from labelhub.core.agreement.audit.tables import LONGEST_TEXT, MOST_COLUMNS, MOST_ROWS
from labelhub.core.errors import InvalidInput

#: What the audit can find, in three lines: what is looked at, and what it shows.
CAN_FIND = (
    (
        "Counts and metrics",
        "swapped or shifted columns, typing errors, sums that are not the items",
    ),
    (
        "Single figures",
        "shares that no number of items gives; rates, kappas and intervals that cannot be",
    ),
    (
        "Means and tests",
        "means that are not those of their rows or runs, t and p values out of reach",
    ),
)
#: What figures were held against, by the name that the audit counts them by.
CHECKED = {
    "counts": "metrics and sums of confusion counts",
    "f1": "F1 from precision and recall",
    "whole_items": "shares of whole items",
    "d_rate": "D-rates",
    "rate": "rates from their counts",
    "increase": "increases",
    "mixture": "wholes from their parts",
    "mean": "means",
    "weighted": "weighted means",
    "total": "totals",
    "difference": "differences",
    "kappa": "kappa from the agreement",
    "accuracy": "accuracy from the other metrics",
    "interval": "values in their intervals",
    "t": "t values from their runs",
    "tail": "p-values from their statistic",
    "p": "p-values from discordant items",
}
LIMITS = (
    f"Up to {MOST_ROWS:,} rows, {MOST_COLUMNS} columns and {LARGEST_FILE // 1000} KB. The first"
    " line names the columns. Nothing is kept."
)
#: Made up for this page. FP and FN are swapped, row 3 stands one column to the left, and the counts
#: of row 5 have a digit too many.
SAMPLE = """\
model | Accuracy | Precision | Recall | F1 | TP | FP | FN | TN
--- | --- | --- | --- | --- | --- | --- | --- | ---
Heron | 87.50% | 84.62% | 82.50% | 83.54% | 66 | 14 | 12 | 116
Wren | 84.62% | 79.27% | 81.25% | 80.25% | 65 | 15 | 17 | 111
Plover | 88.16% | 83.75% | 85.90% | 85.90% | 67 | 13 | 9 | 119
Dunlin | 90.87% | 90.67% | 85.00% | 87.74% | 68 | 12 | 7 | 121
Curlew | 86.06% | 80.72% | 83.75% | 82.21% | 677 | 13 | 16 | 112
"""

_MANY = {"rows": 12, "spellcheck": "false", "autocomplete": "off", "wrap": "off"}


class TableField(forms.CharField):
    """A table as text; browsers send every end of a line as two characters, which count as one."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(required=False, strip=False, max_length=LONGEST_TEXT, **kwargs)

    def to_python(self, value: Any) -> Any:
        """The text with plain ends of lines."""
        return str(super().to_python(value)).replace("\r\n", "\n")


class TableAuditForm(forms.Form):
    """A table, pasted or as a file, and what is known besides."""

    table = TableField(
        label="The table",
        widget=forms.Textarea(attrs=_MANY),
        help_text="Copied from a page or a spreadsheet, or as CSV, TSV, Markdown, LaTeX or JSON.",
    )
    file = forms.FileField(
        label="Or a file",
        required=False,
        widget=forms.FileInput(attrs={"accept": ".csv,.tsv,.txt,.md,.json"}),
        error_messages={"empty": "The file is empty."},
    )
    items = forms.IntegerField(
        label="Items", required=False, min_value=1, max_value=10**9, help_text="that each row is of"
    )
    positives = forms.IntegerField(
        label="Positives", required=False, min_value=1, max_value=10**9, help_text="among the items"
    )
    calls = forms.IntegerField(
        label="Calls", required=False, min_value=1, max_value=100, help_text="behind each D-rate"
    )
    runs = TableField(
        label="The single runs",
        widget=forms.Textarea(attrs=_MANY | {"rows": 5}),
        help_text="A second table whose rows the first one averages; rows are matched by their"
        " names.",
    )

    def clean(self) -> dict[str, Any]:
        """One table: what was pasted, or the text of the file."""
        cleaned = super().clean() or {}
        file, pasted = cleaned.get("file"), cleaned.get("table") or ""
        if file and pasted.strip():
            self.add_error("file", "There is a pasted table already. Take one of the two away.")
        elif file:
            self._read(file)
        elif not pasted.strip() and not self.errors:
            self.add_error("table", "Paste a table, or choose a file.")
        return cleaned

    def asked(self) -> Asked:
        """What to audit; only after ``is_valid()``."""
        known = self.cleaned_data
        return Asked(
            known["table"], known["items"], known["positives"], known["calls"], known["runs"]
        )

    def _read(self, file: UploadedFile) -> None:
        try:
            # One byte more than may be, so that a larger file is refused without reading it all.
            self.cleaned_data["table"] = read_bytes(file.read(LARGEST_FILE + 1))
        except InvalidInput as error:
            self.add_error("file", error.data["errors"][0]["message"])
