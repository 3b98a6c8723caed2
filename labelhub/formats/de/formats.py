"""Months are short, as dates stand in tables."""

DATE_FORMAT = "j. M Y"
DATETIME_FORMAT = "j. M Y, H:i"
MONTH_DAY_FORMAT = "j. M"
