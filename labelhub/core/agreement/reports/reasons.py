"""Why a number is null: a code for programs, and the words for people."""

from labelhub.core.agreement.reports.label_matrix import LabelMatrix
from labelhub.core.texts import gettext_noop

NO_VARIATION = "no_variation"
ONE_ANNOTATOR = "one_annotator"
NO_LABELS = "no_labels"
NO_SHARED_ITEMS = "no_shared_items"
NO_GOLD = "no_gold"
NO_AUTHOR = "no_author"
OWN_OPTIONS = "own_options"
FREE_TEXT = "free_text"
NO_TEXTS = "texts_not_read"
NOT_COMPARED = "not_among_the_compared"
MANY_ANSWERS = "too_many_different_answers"
BELOW_ZERO = "points_below_zero"
MISSING_RATINGS = "no_item_rated_by_all"
ONE_RATED_BY_ALL = "fewer_than_two_items_rated_by_all"
MEANS_ALIKE = "means_vary_less_than_by_chance"
NO_PAIR = "no_item_with_two_labels"
TOO_FEW_LABELS = "fewer_than_two_labels"
TOO_MANY_LABELS = "too_many_labels"
FEW_ITEMS = "few_items"
ONE_CLUSTER = "one_cluster"
NEVER_PREDICTED = "never_predicted"
NEVER_TRUE = "never_true"
NEITHER = "neither_predicted_nor_true"
NOT_RECORDED = "not_recorded"
PRICE_UNKNOWN = "price_unknown"
WHOLE_PROJECT = "only_of_the_whole_project"
NO_ABSTENTIONS = "no_abstentions"
NO_REPEATS = "no_repeats"
NO_PEOPLE = "no_labels_of_people"
ONE_KIND = "one_kind"
GOLD_IMPORTED = "gold_imported"
VIEW_NOT_KNOWN = "view_not_known"

WORDS = {
    NO_VARIATION: gettext_noop("All labels are the same: chance alone would give full agreement."),
    ONE_ANNOTATOR: gettext_noop("Needs two annotators."),
    NO_LABELS: gettext_noop("No labels."),
    NO_SHARED_ITEMS: gettext_noop("No item has labels of both."),
    NO_GOLD: gettext_noop("No item has gold."),
    NO_AUTHOR: gettext_noop("No item has its author's answer."),
    OWN_OPTIONS: gettext_noop(
        "Each item has options of its own, so the first of one is not the first of "
        "another: chance from how often a position is chosen would measure positions. "
        "S_q is the right one."
    ),
    FREE_TEXT: gettext_noop("Free texts have no categories that chance could pick from."),
    NO_TEXTS: gettext_noop("The texts were not read."),
    NOT_COMPARED: gettext_noop(
        "Only a sample of the many labels was compared; it has no item of these two."
    ),
    MANY_ANSWERS: gettext_noop("Too many different answers for a table of them."),
    BELOW_ZERO: gettext_noop("Ratios need a scale without points below zero."),
    MISSING_RATINGS: gettext_noop("No item was rated by all annotators."),
    ONE_RATED_BY_ALL: gettext_noop("Only one item was rated by all annotators; it needs two."),
    MEANS_ALIKE: gettext_noop("The means of items vary less than chance alone would make them."),
    NO_PAIR: gettext_noop("No item has two labels."),
    TOO_FEW_LABELS: gettext_noop("No item has two labels."),
    TOO_MANY_LABELS: gettext_noop("There are too many labels to compute this while you wait."),
    FEW_ITEMS: gettext_noop("Too few items for this test."),
    ONE_CLUSTER: gettext_noop("All its items belong together, so their spread is not known."),
    NEVER_PREDICTED: gettext_noop("The label was never predicted."),
    NEVER_TRUE: gettext_noop("The label is never in the reference."),
    NEITHER: gettext_noop("The label is neither predicted nor in the reference."),
    NOT_RECORDED: gettext_noop("Nobody recorded it."),
    PRICE_UNKNOWN: gettext_noop("The price of a model is not known."),
    WHOLE_PROJECT: gettext_noop("It is computed for the whole project only."),
    NO_ABSTENTIONS: gettext_noop("Nobody abstained."),
    NO_REPEATS: gettext_noop("Nobody answered an item again."),
    NO_PEOPLE: gettext_noop("No crowd worker or expert gave a label."),
    ONE_KIND: gettext_noop("Needs two kinds with labels of items that have a reference."),
    GOLD_IMPORTED: gettext_noop(
        "The gold was imported: it is not known whether a suggestion was in view."
    ),
    VIEW_NOT_KNOWN: gettext_noop("It is not known whether a suggestion was in view."),
}


#: Of many items, the margins of more categories take some seconds for each figure.
MOST_MARGINS = 2_000

CLUSTERS_IGNORED = (
    "clusters_ignored: the interval takes items for independent, yet several share {unit}"
)


def ignored_clusters_doubt(matrix: LabelMatrix) -> str | None:
    """The doubt about an interval that draws items where items belong together; else None."""
    return None if matrix.clusters is None else CLUSTERS_IGNORED.format(unit=matrix.unit)
