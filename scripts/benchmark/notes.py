"""What limits the rows whose aim is missed, and what was tried, by their names in rows.py.

A note is printed below the table where its row misses its aim, and not where it meets it. Measuring again leaves them be.
"""

ARGUMENTS = (
    "half of the time of a command is ArgumentParser, which asks the Swift runtime for each conformance of each type of an "
    "option, and a quarter the kernel's, for the pages of a 16 MB executable"
)

WHERE = "[Where the time of a call goes](decisions/0009-where-the-time-of-a-call-goes.md) has what was done and what was left"

CALLS = (
    "a call is read member by member and answered with some 250 bytes, where Redis reads five words and answers with a few "
    "bytes. " + WHERE
)

STARTS = (
    "a row takes 3,300 instructions of SQLite (callgrind), and a turn a transaction, with six locks and two writes (strace). "
    + WHERE
)

ENDINGS = (
    "ten countdowns end in each millisecond here, and are stored before they are told, so that the last of them waits for the "
    "first. With fewer it is late by less: see [the store](measured.md#the-store). That a commit deletes fewer of the rows "
    "that count no more was tried, and made no difference; what the longest of these waits are for is not known yet"
)

READY = (
    "a million rows are read and checked, and their keys put into the index; Redis' rewritten log is a snapshot of its memory "
    "that is read as it is. Reading on a second thread was not tried"
)

NOTES = {
    "show": ARGUMENTS,
    "is-running": ARGUMENTS,
    "start-1": STARTS,
    "start-50": STARTS,
    "start-50x32": STARTS,
    "start-1-p99": "the ratio of a round is 0.99 to 1.16; what the slowest of a hundred wait for was not looked into",
    "start-50-p99": "as for the calls in a second: all that have come together are stored before any of them is answered",
    "get-50": CALLS,
    "get-50x32": CALLS,
    "endings-p50": ENDINGS,
    "endings-p99": ENDINGS,
    "endings-max": ENDINGS,
    "instant-max": "all are stored before they are told, 4,096 in a turn, and told with the whole countdown, in 33 MB",
    "fanout": (
        "an event tells the whole countdown, in some 330 bytes, where a message of Redis has 60; the load generator, which "
        "reads them, is nearly at its limit, so that the processor time a delivery says more. What the same watchers hear in "
        "a turn is put together once: before that, a delivery took 0.58 µs"
    ),
    "ready-written": READY,
    "ready-rewritten": READY,
    "flood-max": (
        "not known yet; some of it is the kernel's, as the row of the asking program's own waits shows, and with one connection "
        "that starts [it is less](measured.md#the-store)"
    ),
}
