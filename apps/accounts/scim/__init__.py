"""SCIM 2.0: the company's directory creates, changes and deactivates accounts, and fills groups.

``django-scim2`` (``pip install labelhub[scim]``) carries the protocol: addresses, lists, filters,
errors and the documents that describe the service. What a request does is here, as its own
handling of PATCH leaves out what directories send. Only accounts that the directory made are
visible to it; a deletion deactivates, as labels keep their author.
"""
