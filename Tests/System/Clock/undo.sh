# rtc: 2031-03-01T12:00:10
# rtc: 2031-03-01T12:30:00
# rtc: 2031-03-01T13:00:00
# rtc: 2031-03-01T13:30:00
# rtc: 2031-03-01T16:00:00
# The machine is reset at random, without a sync, while changes are made temporarily, kept and undone. After the last boot each
# change is undone, none was undone before its time, and the changes that were kept stay.
# shellcheck shell=dash

unset COUNTDOWND_SOCKET
export HOME=/state/home XDG_RUNTIME_DIR=/run/user
mkdir -m 700 /run/user
mkdir -p /state/home /state/on /state/due /state/keeping /state/kept

random() { echo $(($(od -An -N2 -tu2 /dev/urandom) % $1)); } # random LIMIT: from 0

program() { # program NAME: makes a program of the standard input, which the undo of an earlier boot may be running
  cat > "/state/$1.new"
  chmod 755 "/state/$1.new"
  mv "/state/$1.new" "/state/$1"
  sync
}
program change << 'END'
#!/bin/sh
touch "/state/on/$1"
sync
END
program undo << 'END'
#!/bin/sh
echo "$1 $(date +%s)" >> /state/undone
rm -f "/state/on/$1"
sync
END

# changes: one after the other, each for 1 to 4 s or for an hour; some are kept.
changes() {
  local name seconds
  for number in $(seq 100); do
    name=c${boot:?}-$number
    seconds=$((1 + $(random 4)))
    [ "$(random 2)" = 0 ] || seconds=3600
    echo $(($(date +%s) + seconds)) > "/state/due/$name"
    sync
    countdownctl temporarily "$name" ${seconds}s --undo "/state/undo $name" -- /state/change "$name" 2> /dev/null
    if [ "$(random 3)" = 0 ]; then
      touch "/state/keeping/$name"
      sync
      countdownctl keep "$name" 2> /dev/null && touch "/state/kept/$name" && sync
    fi
  done
}

# The changes that are neither undone nor kept.
left() {
  for change in /state/on/*; do
    name=${change##*/}
    [ "$name" = '*' ] || [ -e "/state/keeping/$name" ] || echo "$name"
  done
}

countdownd --state-directory /state/countdownd &
# shellcheck disable=SC2034 # lib.sh stops it.
daemon=$!
countdownctl undo-service --stay 2> /run/undo-log &
eventually countdownctl status
if [ "$boot" -lt 5 ]; then
  changes &
  sleep "$(($(random 4) + 2)).$(random 10)"
  echo b > /proc/sysrq-trigger
  sleep 60
fi
all_undone() { [ -z "$(left)" ]; }
eventually all_undone
fact "left: $(left | wc -l)"
early=0
while read -r name instant; do
  [ "$instant" -ge "$(cat "/state/due/$name")" ] || early=$((early + 1))
done < /state/undone
fact "undone too early: $early"
lost=0
for change in /state/kept/*; do
  [ "$change" = '/state/kept/*' ] || [ -e "/state/on/${change##*/}" ] || lost=$((lost + 1))
done
fact "kept and undone: $lost"
fact "undone: $([ "$(wc -l < /state/undone)" -ge 4 ] && echo at least four)"
