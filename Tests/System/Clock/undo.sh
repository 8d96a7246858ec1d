# rtc: 2031-03-01T12:00:10
# resets: 4
# The machine is reset at random, without a sync, while changes are made temporarily, kept and undone; before some resets it is
# suspended, or its clock is set. What a change does is on a disk of its own, written synchronously, so that its sync does not save
# the files of undos. After each reset, a change without a file is lost; after the last boot each change is undone, none was undone
# before its time, and the changes that were kept stay.
# shellcheck shell=dash

unset COUNTDOWND_SOCKET
export HOME=/state/home XDG_RUNTIME_DIR=/run/user
mkdir -m 700 /run/user
mkdir -p /state/home /effects/on /effects/due /effects/keeping /effects/kept /effects/set
: "${boot:?}" "${boots:?}"
echo "$boot" > /run/boot

random() { echo $(($(od -An -N2 -tu2 /dev/urandom) % $1)); } # random LIMIT: from 0

program() { # program NAME: makes a program of the standard input, which the undo of an earlier boot may be running
  cat > "/state/$1.new"
  chmod 755 "/state/$1.new"
  mv "/state/$1.new" "/state/$1"
}
program change << 'END'
#!/bin/sh
touch "/effects/on/$1"
END
# In hundredths of a second since the boot, suspends included, and in seconds since 1970.
program instant << 'END'
#!/bin/sh
echo "$(cat /run/boot) $(sed 's/ .*//; s/[.]//' /proc/uptime) $(date +%s)"
END
program undo << 'END'
#!/bin/sh
echo "$1 $(/state/instant)" >> /effects/undone
rm -f "/effects/on/$1"
END
sync

# changes: one after the other, each for 1 to 4 s or for an hour; some are kept.
changes() {
  local name seconds number
  for number in $(seq 100); do
    name=c$boot-$number
    seconds=$((1 + $(random 4)))
    [ "$(random 2)" = 0 ] || seconds=3600
    echo "$(/state/instant) $seconds" > "/effects/due/$name"
    countdownctl temporarily "$name" ${seconds}s --undo "/state/undo $name" -- /state/change "$name" 2> /dev/null
    if [ "$(random 3)" = 0 ]; then
      touch "/effects/keeping/$name"
      countdownctl keep "$name" 2> /dev/null && touch "/effects/kept/$name"
    fi
  done
}

# The changes that are neither undone nor kept.
left() {
  for change in /effects/on/*; do
    name=${change##*/}
    [ "$name" = '*' ] || [ -e "/effects/keeping/$name" ] || echo "$name"
  done
}

for name in $(left); do
  grep -qs "\"name\":\"$name\"" /state/home/.local/state/countdown-undo/* || fact "lost: $name"
done
countdownd --state-directory /state/countdownd &
# shellcheck disable=SC2034 # lib.sh stops it.
daemon=$!
countdownctl undo-service --stay 2> /run/undo-log &
eventually countdownctl status
if [ "$boot" -lt "$boots" ]; then
  changes &
  sleep "$(($(random 3) + 1)).$(random 10)"
  case $(random 6) in
    0) touch "/effects/set/$boot" && step 3600 ;;
    1) touch "/effects/set/$boot" && step -3600 ;;
    2) suspend_to_memory 2 ;;
  esac
  sleep "$(($(random 3) + 1)).$(random 10)"
  echo reset
  echo b > /proc/sysrq-trigger
  sleep 60
fi
all_undone() { [ -z "$(left)" ]; }
eventually all_undone
fact "left: $(left | wc -l)"
early=0
while read -r name boot uptime now; do
  read -r begun began when seconds < "/effects/due/$name"
  if [ "$boot" = "$begun" ]; then
    [ "$uptime" -ge $((began + 100 * seconds)) ] || early=$((early + 1))
  elif [ ! -e "/effects/set/$begun" ] && [ ! -e "/effects/set/$boot" ]; then
    [ "$now" -ge $((when + seconds)) ] || early=$((early + 1))
  fi
done < /effects/undone
fact "undone too early: $early"
lost=0
for change in /effects/kept/*; do
  [ "$change" = '/effects/kept/*' ] || [ -e "/effects/on/${change##*/}" ] || lost=$((lost + 1))
done
fact "kept and undone: $lost"
echo "$(cut -d ' ' -f 1 /effects/undone | sort -u | wc -l) changes were undone, $(find /effects/kept -type f | wc -l) kept"
fact "undone: $([ "$(wc -l < /effects/undone)" -ge 4 ] && echo at least four)"
