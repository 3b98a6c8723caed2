"""Labels are added, renamed, merged, split and retired in a project that has labels already.

- ``previewing`` says beforehand what becomes of labels, decisions and conflicts;
- ``beginning`` makes the new version, from then on everybody labels under it;
- ``running`` carries the labels over in the background, chunk by chunk, resumable;
- ``arriving`` is for answers from pages that were opened before.
"""
