"""Driving a run: claim debates, ask within limits and budget, write what was said, close.

A worker calls ``worker.run_slice`` for a run until nothing is left to do. Planning reads from here
what a call costs, what an item brings along and whether it has precedents.
"""
