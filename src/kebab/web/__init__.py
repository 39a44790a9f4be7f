"""The HTTP interface and its web page: parse, call, print.

``app`` makes the ASGI application, ``operations`` says what it answers, ``guard`` who may ask, ``serve`` runs
it. The synchronous core is called in worker threads; one open Kebab serves everyone.
"""
