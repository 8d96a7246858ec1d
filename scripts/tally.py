#!/usr/bin/env python3
"""Tables of docs/reliability.md whose figures add up from run to run, each between <!-- NAME --> and <!-- /NAME -->."""

import os
import re
import subprocess
import sys
import time

from measuring import ROOT

PAGE = os.path.join(ROOT, "docs/reliability.md")


def git(*arguments):
    return subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True, check=True).stdout.strip()


def commit():
    """The commit of the sources, and whether they differ from it; what runs write themselves does not count."""
    changed = git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!docs/reliability.md", ":!Tests/Fuzz/Corpus")
    return git("describe", "--always", "--abbrev=10") + ("-dirty" if changed else "")


def number(cell):
    return float(cell.replace(",", "") or 0)


def update(name, change, summed):
    """Passes the rows without the sum to `change`, and writes what it returns, with the sums of these columns."""
    with open(PAGE) as file:
        page = file.read()
    found = re.search(rf"(<!-- {name} -->\n(?:\|.*\n){{2}})((?:\|.*\n)*)(<!-- /{name} -->)", page)
    rows = change([[cell.strip() for cell in line.strip("|").split("|")] for line in found[2].splitlines()
                   if not line.startswith("| sum ")])
    sums = [f"{sum(number(row[column]) for row in rows):,.10g}" if column in summed else "" for column in range(1, len(rows[0]))]
    table = "".join("| " + " | ".join(row) + " |\n" for row in [*rows, ["sum", *sums]])
    with open(PAGE, "w") as file:
        file.write(page[:found.start()] + found[1] + table + found[3] + page[found.end():])


def fuzz(target, inputs, edges, kept):
    """Adds the inputs to the row of a target, whose other cells are new."""
    def change(rows):
        row = next(row for row in rows if row[0] == target)
        row[2:] = [f"{number(row[2]) + int(inputs):,.0f}", f"{int(edges):,}", f"{int(kept):,}", commit()]
        return rows
    update("fuzz", change, {2})


def faults(command, count, changes, lost):
    """Adds a row for a run of a trial: its command, its faults, and the changes that were answered, and lost, meanwhile."""
    row = [time.strftime("%Y-%m-%d"), commit(), f"`{command}`", *(f"{int(cell):,}" for cell in (count, changes, lost))]
    update("faults", lambda rows: [*rows, row], {3, 4, 5})


def main():
    """usage: tally.py fuzz TARGET INPUTS EDGES KEPT
       tally.py faults COMMAND FAULTS CHANGES LOST"""
    try:
        {"fuzz": fuzz, "faults": faults}[sys.argv[1]](*sys.argv[2:])
    except (IndexError, KeyError, TypeError):
        sys.exit(main.__doc__)


if __name__ == "__main__":
    main()
