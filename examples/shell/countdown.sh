#!/usr/bin/env bash
# usage: countdown.sh KEY [SECONDS]
#
# Starts a countdown, or finds it running, and follows it to its end, with socat and jq. The countdown is the daemon's:
# end this script and begin it again, and it has gone on. The daemon may be restarted, too: the watch is taken up where
# it was.
# What stands in single quotes is jq's, and so are the variables there.
# shellcheck disable=SC2016
set -euo pipefail

key=${1:?usage: countdown.sh KEY [SECONDS]}
seconds=${2:-60}
socket=${COUNTDOWND_SOCKET:-$XDG_RUNTIME_DIR/countdownd/io.countdownd}

message() { # CALL: one JSON object that ends with a NUL
  jq --null-input --join-output --compact-output \
    --arg key "$key" --argjson seconds "$seconds" --argjson since "$since" "$1"
  printf '\0'
}

# Prints an error reply and leaves; of any other, prints what jq makes of it, a line each.
tell() { # REPLY FILTER
  jq --raw-output --exit-status "if .error then halt_error else $2 end" <<< "$1"
}

start() {
  local reply
  # Where the daemon is away just now, the watch will notice as well.
  reply=$(message '{method: "io.countdownd.Start", parameters: {$key, durationUSec: ($seconds * 1000000 | round)}}' |
    socat -t 60 - "UNIX-CONNECT:$socket" | tr -d '\0') && [ -n "$reply" ] || return 0
  tell "$reply" '.parameters | "\(.countdown.key): \(.outcome), \(.countdown.remainingUSec / 1000000 | round) s left"'
  begun=yes
}

# All up to this revision has been told; who comes back with it misses nothing.
since=null
begun=
trap '[ -z "${connection-}" ] || kill "$connection" 2> /dev/null' EXIT

while true; do
  # A connection of its own: while a watch goes on it takes no other call. It lasts for as long as this socat does.
  exec {replies}< <(exec socat -t 1000000 - "UNIX-CONNECT:$socket" 2> /dev/null < <(
    message '{method: "io.countdownd.Watch", parameters: {keys: [$key], $since}, more: true}'
  ))
  connection=$!
  while IFS= read -r -d '' -u "$replies" reply; do
    events=$(tell "$reply" '.parameters.events[] | "\(.type) \(.revision) \((.remainingUSec // 0) / 1000000 | round)"')
    while read -r type revision remaining; do
      [ "$revision" = null ] || since=$revision
      case $type in
        synced) # From now on all is told that happens, so that nothing is missed of what is started.
          [ -n "$begun" ] || start
          ;;
        tick) echo "$key: goes on, $remaining s left" ;;
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
