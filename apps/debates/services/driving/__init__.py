"""Driving a run: claim debates, ask within limits and budget, write what was said, close.

``slices`` is the way in; a worker calls ``run_slice`` for a run until nothing is left to do.
"""
