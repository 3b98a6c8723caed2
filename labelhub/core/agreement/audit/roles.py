"""What a column holds, by the names that papers give it."""

import re

from labelhub.core.agreement.audit.pasted import GROUP
from labelhub.core.agreement.audit.printed import clean

COUNT_ROLES = ("TP", "FP", "FN", "TN")
METRIC_ROLES = ("accuracy", "precision", "recall", "specificity", "f1")
VALUE = "value"

#: Names by role, lower case, everything but letters and digits read as a space.
ALIASES: dict[str, str] = {
    "TP": "tp|true positive|true positives",
    "FP": "fp|false positive|false positives",
    "FN": "fn|false negative|false negatives",
    "TN": "tn|true negative|true negatives",
    "accuracy": "accuracy|acc|stated accuracy",
    "precision": "precision|prec|ppv|positive predictive value|pr",
    "recall": "recall|rec|r|sensitivity|sens|tpr|true positive rate",
    "specificity": "specificity|spec|tnr|true negative rate",
    "f1": "f1|f|f 1|f1 score|f score|f measure|fscore|f1 measure|binary f1",
    "n": "n|items|n items|size|sample size|samples|number of items|support",
    "positives": "positives|positive|pos|n positive|n positives|number of positives",
    "p": "p value|pvalue|p val|stated p|p",
    "t": "t|abs t|t value|t statistic|stated t",
    "d_rate": "d rate|drate",
    "calls": "k|calls|votes|n calls|number of calls",
    "average": "avg|average|mean|stated avg|stated mean|average accuracy|mean accuracy",
    "difference": "difference|diff|delta|δ|gain|change|stated delta|improvement|deltas",
    "diff_items": "diff items|difference in items|b c|b minus c",
    "increase": "increase|stated increase|stated increase pct|relative increase|lift",
    "before": "before|baseline|base|old|control",
    "after": "after|new|treatment|ours|proposed",
    "rate": "rate|ctr|share of total|click through rate|conversion rate"
    "|percentage|proportion|percent|pct",
    "part": "clicks|successes|correct|hits|conversions|k correct|numerator"
    "|count|counts|n correct|number correct|correct items",
    "whole": "impressions|impr|total|trials|views|denominator|attempts",
    "share": "ratio|ratio amb|share|share amb|amb ratio|proportion ambiguous|share ambiguous",
    "acc_of_share": "acc amb|amb|ambiguous|accuracy ambiguous|acc ambiguous|amb acc",
    "acc_of_rest": "acc nor|nor|normal|accuracy normal|acc normal|nor acc",
    "overall": "overall|overall accuracy|acc overall|accuracy overall|all|table3 1shot",
    "kappa": "kappa|κ|cohen s kappa|cohens kappa|cohen kappa|cohen s κ|cohen κ|fleiss kappa"
    "|fleiss κ|scott s pi|ac1|gwet s ac1",
    "agreement": "agreement|percent agreement|percentage agreement|observed agreement"
    "|raw agreement|agreement rate|exact agreement|po|p o",
    "chance": "pe|p e|expected agreement|chance agreement",
    "df": "df|d f|dof|degrees of freedom",
    "z": "z|z value|z score|z statistic",
    "chi2": "chi2|chi 2|chi square|chi squared|χ2|χ 2|χ²|x2",
    "interval": "ci|95 ci|ci 95|confidence interval|95 confidence interval|interval|wilson 95 ci",
    "low": "low|lower|ci low|ci lower|lower ci|95 ci low|95 ci lower|lower bound|ll|2 5",
    "high": "high|upper|ci high|ci upper|upper ci|95 ci high|95 ci upper|upper bound|ul|97 5",
}
#: Kinds of rows that sum up others, and the words that name them.
MEAN, WEIGHTED, TOTAL, OTHER = "mean", "weighted", "total", "other"
_MEANS = frozenset({"avg", "average", "averages", "mean", "macro"})
_TOTALS = frozenset({"total", "totals", "sum", "overall", "all"})
_OTHERS = frozenset({"micro", "accuracy", "std", "sd", "median", "min", "max"})
#: What else may stand in such a name; any other word names a system.
_BESIDE = frozenset({"of", "the", "over", "across", "rows", "row", "runs", "tasks", "datasets"})
_BESIDE |= {"classes", "models", "f1", "domains", "labels"}
_ROLE_OF = {name: role for role, names in ALIASES.items() for name in names.split("|")}
_OTHER = re.compile(r"[\W_]+")


def plain(name: str) -> str:
    """A column's name as the aliases are written."""
    return _OTHER.sub(" ", clean(name).lower()).strip()


def role_of(name: str) -> str:
    """The role of a column of that name, in a group of columns or by itself."""
    if clean(name) == "%":
        return "rate"
    own = name.rpartition(GROUP)[2]
    return _ROLE_OF.get(plain(name)) or _ROLE_OF.get(plain(own), VALUE)


def summary_kind(name: str) -> str:
    """Which kind of summary of other rows a row of that name is; empty where it is none."""
    words = set(plain(name).split())
    telling = words - _BESIDE
    if not telling or not telling <= _MEANS | _TOTALS | _OTHERS | {WEIGHTED}:
        return ""
    if telling & _OTHERS:
        return OTHER
    if WEIGHTED in telling:
        return WEIGHTED
    return MEAN if telling & _MEANS else TOTAL
