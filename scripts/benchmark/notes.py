"""What limits the rows whose aim is missed, and what was tried, by their names in rows.py.

A note is printed below the table where its row misses its aim, and not where it meets it. Measuring again leaves them be.
"""

ARGUMENTS = (
    "what was typed plainly is read without ArgumentParser, which takes nine tenths of the instructions of any other command; "
    "most of what is left is the kernel's, for the pages of a 16 MB executable"
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
    "first: to end the ten takes some 35 µs, to store them 55, to put their events together 20 and to write these 20 (read "
    "from the clock between the steps of a turn). What was done: [a commit leaves deleting for a pause](decisions/0004-every-change-is-a-row.md), what is copied out of the log "
    "is brought onto the disk in the background, and the alarm rings a moment early; before, this was 188 µs at the median, "
    "4.9 ms at p99 and 8.7 ms at most. The latest wait for the last few pages of the log, which the daemon brings onto the disk "
    "itself where it has no pause: two to four of them, each a call of fdatasync that takes 0.2 to 2 ms (strace)"
)

READY = (
    "a million rows are read and checked on one queue, of whose 7,000 instructions a row SQLite takes 5,000, while another one "
    "puts their keys into the index; on one queue both took 1.23 s. Redis' rewritten log is a snapshot of its memory that is "
    "read as it is"
)

NOTES = {
    "show": ARGUMENTS,
    "is-running": ARGUMENTS,
    "start-1": STARTS,
    "start-50": STARTS,
    "start-50x32": STARTS,
    "start-1-p99": "the ratio of a round is 0.9 to 1.3: the slowest of a hundred differ by as much from round to round",
    "start-50-p99": "as for the calls in a second: all that have come together are stored before any of them is answered",
    "get-50": CALLS,
    "get-50x32": CALLS,
    "endings-p50": ENDINGS,
    "endings-p99": ENDINGS,
    "endings-max": ENDINGS,
    "instant-max": (
        "all are stored before they are told, 4,096 in a turn, and told with the whole countdown, in 33 MB. Of an ending a "
        "quarter is SQLite's time, a fifth the kernel's, a sixth writes the event, and a seventh takes it out of the heap of "
        "deadlines (perf); to find a countdown once in place of twice, and to copy no watchers, took an eighth off"
    ),
    "fanout": (
        "an event tells the whole countdown, in some 330 bytes, where a message of Redis has 60; the load generator, which "
        "reads them, is nearly at its limit, so that the processor time a delivery says more. What the same watchers hear in "
        "a turn is put together once: before that, a delivery took 0.58 µs"
    ),
    "ready-written": READY,
    "ready-rewritten": READY,
    "flood-max": (
        "1,600 calls wait at any time, and a Get that comes behind them is answered with the turn that takes the last of them, "
        "some 4 ms later; the kernel lets the asking program itself wait for some ms, as that row shows. It was 18 ms while the "
        "turn waited for the disk and carried out 1,024 calls in place of 256; fewer than that were not tried"
    ),
}
