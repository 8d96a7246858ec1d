"""What limits the rows whose aim is missed, and what was tried, by their names in rows.py.

A note is printed below the table where its row misses its aim, and not where it meets it. Measuring again leaves them be.
"""

ARGUMENTS = (
    "what was typed plainly is read without ArgumentParser, which takes nine tenths of the instructions of any other command; "
    "most of what is left is the kernel's, for the pages of a 16 MB executable"
)

WHERE = "[Where the time of a call goes](decisions/0009-where-the-time-of-a-call-goes.md) has what was done and what was left"

ALONE = (
    "with one call of each of the 50 in a turn, more than half of the time is the kernel's: a call of recv and one of send "
    "for each (strace, perf), which Redis makes as well"
)

CALLS = (
    "a reply tells the whole countdown, in some 250 bytes of which 100 are digits, where Redis answers with a few: to write it "
    "takes 1,300 of the 2,910 instructions of a Get, to look the countdown up 610. It was 12,600 before any work on it; "
    + ALONE + ". " + WHERE
)

STARTS = (
    ALONE + ". A Start takes 8,450 instructions where 32 come together, 2,300 of them to store it, in place of 30,500 before "
    "any work on it; and each turn is a transaction, with six locks and two writes to a page (strace). " + WHERE
)

ENDINGS = (
    "ten countdowns end in each millisecond here, and are stored before they are told, so that the last of them waits for the "
    "first. To end one and tell it took 26,800 instructions, and takes 10,600; a commit leaves deleting for a pause, what is "
    "copied out of the log is brought onto the disk in the background, and the alarm rings a moment early: before all of "
    "that, this was 188 µs at the median, 4.9 ms at p99 and 8.7 ms at most. The latest wait for the last few pages of the log, "
    "which the daemon brings onto the disk itself where it has no pause: two to four of them, each a call of fdatasync that "
    "takes 0.2 to 2 ms (strace)"
)

READY = (
    "one queue reads a million lines and another one puts their keys into the index, with 5,020 instructions a countdown in all, "
    "of 10,230 before changes shared rows; the queue that reads takes two thirds of the time, a sixth of that to have 77 MB of "
    "pages from the kernel, one KiB at a time (perf). To map the file in place of that was left, as a disk that fails would "
    "kill the daemon. Redis' rewritten log is a snapshot of its memory that is read as it is"
)

NOTES = {
    "show": ARGUMENTS,
    "is-running": ARGUMENTS,
    "start-1": STARTS,
    "start-50": STARTS,
    "start-50x32": STARTS,
    "start-1-p99": "the ratio of a round is 0.9 to 1.3: the slowest of a hundred differ by as much from round to round",
    "start-50-p99": (
        "all that have come together are stored in one transaction before any of them is answered. With no more than 25 calls "
        "in a turn, in place of all 50, the p99 was the same and the calls in a second 5 % fewer"
    ),
    "get-50": CALLS,
    "get-50x32": CALLS,
    "endings-p50": ENDINGS,
    "endings-p99": ENDINGS,
    "endings-max": ENDINGS,
    "instant-max": (
        "all are stored before they are told, 4,096 in a turn, and told with the whole countdown, in 33 MB. To end one and tell it "
        "took 26,800 instructions, and takes 10,600"
    ),
    "fanout": (
        "an event tells the whole countdown, in some 330 bytes, where a message of Redis has 60. What the same watchers hear in a "
        "turn is put together once, and copied for each of them, and again by the kernel and by the load generator, which is "
        "nearly at its limit itself: before that, a delivery took 0.58 µs. To hand one copy to all sockets was left: some "
        "quarter of a delivery, and what callers are answered would wait for 500 calls of send"
    ),
    "ready-written": READY,
    "ready-rewritten": READY,
    "flood-max": (
        "1,600 calls wait at any time, and a Get that comes behind them is answered with the turn that takes the last of them; the "
        "kernel lets the asking program itself wait for some ms, as that row shows. It was 18 ms while the turn waited for the "
        "disk and carried out 1,024 calls in place of 256"
    ),
}
