"""The version of this software, as files that it writes tell it."""

NAME = "LabelHub"
VERSION = "0.1.0"
