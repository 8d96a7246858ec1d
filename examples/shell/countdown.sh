#!/usr/bin/env bash
# usage: countdown.sh KEY [SECONDS]
#
# Starts a countdown, or finds it running, and follows it to its end, with socat and jq. The countdown belongs to the
# daemon: stop this script and run it again, and the countdown is still running. If the daemon restarts, the script
# resumes its watch and misses no event.
# Text in single quotes is code for jq, with jq's variables.
# shellcheck disable=SC2016
set -euo pipefail

key=${1:?usage: countdown.sh KEY [SECONDS]}
seconds=${2:-60}
if [[ ! $seconds =~ ^[0-9]{1,9}([.][0-9]+)?$ ]]; then
  echo "countdown.sh: invalid seconds '$seconds': use for example 90 or 1.5" >&2
  exit 64
fi
for program in jq socat; do
  command -v "$program" > /dev/null || { echo "countdown.sh: $program is not installed" >&2; exit 69; }
done
socket=${COUNTDOWND_SOCKET:-$XDG_RUNTIME_DIR/countdownd/io.countdownd}
socket=${socket#unix:}

message() { # CALL: one JSON object that ends with a NUL
  jq --null-input --join-output --compact-output \
    --arg key "$key" --argjson seconds "$seconds" --argjson since "$since" "$1"
  printf '\0'
}

# Prints an error reply and exits; otherwise prints the output of the filter.
show() { # REPLY FILTER
  jq --raw-output --exit-status "if .error then halt_error else $2 end" <<< "$1"
}

call() { # CALL
  message "$1" | socat -t 60 - "UNIX-CONNECT:$socket" | tr -d '\0'
}

start() {
  local reply
  # If the daemon is gone, the watch ends too and is resumed below.
  reply=$(call '{method: "io.countdownd.Start", parameters: {$key, durationUSec: ($seconds * 1000000 | round)}}') &&
    [ -n "$reply" ] || return 0
  show "$reply" '.parameters | "\(.countdown.key): \(.outcome), \(.countdown.remainingUSec / 1000000 | round) s left"'
  started=yes
}

# The daemon is back. If it does not know the countdown, its end is not kept, because it was started with "forget".
confirm() {
  if [[ $(call '{method: "io.countdownd.Get", parameters: {$key}}') == *'"error":"io.countdownd.NoSuchCountdown"'* ]]; then
    echo "$key: ended while the daemon was away"
    exit
  fi
}

# All changes up to this revision have been received. A watch with it as "since" misses none.
since=null
started=
trap '[ -z "${connection-}" ] || kill "$connection" 2> /dev/null' EXIT

while true; do
  # A connection of its own, because calls behind a watch wait until it ends. It lasts as long as this socat.
  exec {replies}< <(exec socat -t 1000000 - "UNIX-CONNECT:$socket" 2> /dev/null < <(
    message '{method: "io.countdownd.Watch", parameters: {keys: [$key], $since}, more: true}'
  ))
  connection=$!
  while IFS= read -r -d '' -u "$replies" reply; do
    if [[ $reply == *'"error":"io.countdownd.HistoryTrimmed"'* ]]; then
      # The daemon has lost its history, perhaps with the countdown: begin again.
      since=null started=
      break
    fi
    events=$(show "$reply" '.parameters.events[] | "\(.type) \(.revision) \((.remainingUSec // 0) / 1000000 | round)"')
    while read -r type revision remaining; do
      [ "$revision" = null ] || since=$revision
      case $type in
        synced) # From now on the daemon sends every change, so no event of the countdown is missed.
          if [ -n "$started" ]; then confirm; else start; fi
          ;;
        tick) echo "$key: running, $remaining s left" ;;
        finished | cancelled)
          echo "$key: $type"
          exit
          ;;
      esac
    done <<< "$events"
  done
  exec {replies}<&-
  echo 'no daemon; trying again' >&2
  sleep 1
done
