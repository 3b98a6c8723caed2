"""The name and version of this software, for the files that it writes."""

NAME = "LabelHub"
VERSION = "0.1.0"
