"""The ledger as arrays: ``slicing`` says which part of it, ``coding`` numbers the answers,
``reading`` fetches them, a million in about the time of a plain SELECT of the rows."""
