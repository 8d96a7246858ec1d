"""What limits the rows whose aim is missed, and what was tried, by their names in rows.py.

A note is printed below the table where its row misses its aim, and not where it meets it. Measuring again leaves them be.
"""

ARGUMENTS = (
    "half of the time of a command is ArgumentParser, which asks the Swift runtime for each conformance of each type of an "
    "option, and a quarter the kernel's, for the pages of a 16 MB executable"
)

NOTES = {
    "show": ARGUMENTS,
    "is-running": ARGUMENTS,
}
