"""Echo learns online what to ask authors and what to offer them (paper 004, section 3).

It keeps two signals apart: answers of authors teach the feature models and their uncertainty;
rewards of offers teach which features matter. Plain values in, plain values out: ``apps.echo``
stores events, calls models and shows offers.
"""
