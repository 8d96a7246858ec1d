#!/bin/sh
# usage: countdown.sh KEY [SECONDS]
#
# Starts a countdown, or finds it running, and follows it to its end. The countdown belongs to the daemon: stop this script and
# run it again, and the countdown is still running. If the daemon restarts, no end is missed.
seconds=${2:-60}
case $seconds in *[!0-9.]* | '' | *.*.* | .*) echo "countdown.sh: invalid seconds '$seconds': use for example 90 or 1.5" >&2; exit 64 ;; esac
exec countdownctl start --key "${1:?usage: countdown.sh KEY [SECONDS]}" --for "${seconds}s" --attach --plain
