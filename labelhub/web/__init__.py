"""Between network and Django: complete bodies in, and no threads held by slow clients."""
