"""Reads JSON strings, a line each, as Pango markup, and prints the text that Pango would show of each, as JSON too.

Fails where Pango refuses the markup, or where something in it is more than text.
"""

import json
import sys

import gi

gi.require_version("Pango", "1.0")
from gi.repository import Pango  # noqa: E402

for line in sys.stdin:
    markup = json.loads(line)
    _, attributes, text, _ = Pango.parse_markup(markup, -1, "\0")
    if attributes.get_attributes():
        sys.exit(f"not only text: {markup}")
    print(json.dumps(text))
