"""The tables of the papers, made again from a file that the user brings: one module for each.

``registry`` knows them all; ``asked`` is what is asked for, ``bringing`` makes a project of the
file, ``setups`` and ``running`` see to the runs a table needs, ``answers`` reads what they found,
``counting`` and ``strata`` make figures of it, ``layout`` prints them.
"""

from apps.agreement.papers.registry import TABLES, paper_table

__all__ = ["TABLES", "paper_table"]
