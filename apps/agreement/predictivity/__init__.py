"""Predictivity: authors' answers predicted from their other answers, as each source labels them.

``reading`` takes the answers from the ledger, ``planning`` says what a study would take,
``studies`` starts and steers one, ``slices`` drives it, ``results`` tells what was found.
"""
