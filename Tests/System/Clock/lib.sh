# The commands of scenarios. A fact is a line that the host compares; everything else on the console is for people.
# shellcheck shell=dash

fact() { echo "fact: $*"; }

# eventually COMMAND…: repeats the command until it succeeds, for half a minute.
eventually() {
  for _ in $(seq 150); do
    "$@" > /dev/null 2>&1 && return
    sleep 0.2
  done
  fact "never: $*"
  exit 1
}

start_daemon() { # OPTION…
  countdownd --socket "$COUNTDOWND_SOCKET" --state-directory /state/countdownd "$@" &
  daemon=$!
  eventually countdownctl status
}

stop_daemon() {
  [ -z "$daemon" ] || { kill "$daemon" && wait "$daemon"; }
  daemon=
}

kill_daemon() {
  kill -9 "$daemon"
  wait "$daemon"
  daemon=
}

daemon=
trap stop_daemon EXIT

# follow: starts a watcher, which reconnects to the next daemon.
follow() {
  countdownctl watch --json > /run/events &
  eventually grep '"synced"' /run/events
}

# heard KEY LAST: the types of the changes that the watcher received, up to LAST.
heard() {
  eventually grep '"type":"'"$2"'".*"key":"'"$1"'"' /run/events
  fact "$1 was told as" "$(sed -n '/"type":"tick"/d; s/.*"type":"\([a-z]*\)".*"key":"'"$1"'".*/\1/p' /run/events | xargs)"
}

# late KEY LEAST MOST: the lateness of its end in seconds; the number itself only if it is out of this range.
late() {
  eventually grep '"type":"finished".*"key":"'"$1"'"' /run/events
  fact "$1 ended $(range "$(sed -n 's/.*"type":"finished".*"key":"'"$1"'".*"lateUSec":\([0-9]*\).*/\1/p' /run/events)" "$2" "$3") s late"
}

# left KEY LEAST MOST: its remaining time in seconds, as above.
left() { fact "$1 has $(range "$(field "$1" remainingUSec)" "$2" "$3") s left"; }

range() { # MICROSECONDS LEAST MOST
  local seconds=$((${1:-0} / 1000000))
  if [ "$seconds" -ge "$2" ] && [ "$seconds" -le "$3" ]; then echo "$2 to $3"; else echo "$seconds"; fi
}

# suspend_to_memory 60: the hardware clock wakes the machine after this many seconds.
suspend_to_memory() {
  echo 0 > /sys/class/rtc/rtc0/wakealarm
  echo "+$1" > /sys/class/rtc/rtc0/wakealarm
  echo mem > /sys/power/state
}

# step 3600, step -3600: sets the system clock forward or back by this many seconds.
step() { date -s "@$(($(date +%s) + $1))" > /dev/null; }

# in_seconds 3600: a deadline for a countdown.
in_seconds() { echo "@$(($(date +%s) + $1))"; }

# field KEY NAME: one field of the countdown; empty if it is absent.
field() { countdownctl show "$1" --json | sed -n 's/.*"'"$2"'":"\{0,1\}\([^",}]*\).*/\1/p'; }

# tell KEY…: their states, and the minute of the wall clock of their deadlines or ends.
tell() {
  local key at
  for key in "$@"; do
    at=$(field "$key" endedUSec)
    [ -n "$at" ] || at=$(field "$key" deadlineUSec)
    fact "$key $(field "$key" state), at $(date -u -d "@$((at / 1000000))" '+%F %H:%M')"
  done
}
