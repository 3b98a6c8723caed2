"""The pictures of agreement: plain data in, places and words out; templates draw them as SVG."""
