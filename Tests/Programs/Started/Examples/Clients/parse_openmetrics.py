"""Parses figures from standard input, in the format openmetrics or prometheus, and prints the name and type of each family."""

import sys

from prometheus_client import parser
from prometheus_client.openmetrics import parser as openmetrics_parser

parsers = {"openmetrics": openmetrics_parser, "prometheus": parser}
for family in parsers[sys.argv[1]].text_string_to_metric_families(sys.stdin.read()):
    print(family.name, family.type, len(family.samples))
