# rtc: 2031-03-01T12:00:10
# countdown-notify --wake ends a suspend for a countdown with wake=yes, and rings; the hardware clock is not set by the test.
# A player stands for the one of a desktop, and there is no bus. The program runs as an ordinary user with the one capability.
# shellcheck shell=dash

mkdir -p /usr/share/sounds/freedesktop/stereo /run/notify /run/bin
touch /usr/share/sounds/freedesktop/stereo/alarm-clock-elapsed.oga
cat > /run/bin/paplay << 'END'
#!/bin/sh
date +%s >> /run/notify/rings
END
chmod 755 /run/bin/paplay
chown 1000:1000 /run/notify

# notify CAPABILITIES: starts countdown-notify as the user 1000 with these capabilities.
notify() {
  PATH=/run/bin:/bin /bin/setpriv --reuid=1000 --regid=1000 --clear-groups --inh-caps="$1" --ambient-caps="$1" \
    --bounding-set="$1" countdown-notify --wake --ring once --state-directory /run/notify/state 2> /run/notify/log &
  notify=$!
}

stop_notify() {
  [ -z "$notify" ] || { kill "$notify" && wait "$notify"; }
  notify=
  cat /run/notify/log
}

notify=
trap 'stop_notify; stop_daemon' EXIT

watched() { countdownctl status --json | grep '"watchers":2'; } # the other one is follow's

start_daemon --access=socket
chmod 666 "$COUNTDOWND_SOCKET"
follow

notify -all
eventually grep 'the capability CAP_WAKE_ALARM is missing' /run/notify/log
fact "without the capability, lines about it: $(grep -c CAP_WAKE_ALARM /run/notify/log)"
stop_notify

notify -all,+wake_alarm
eventually watched
countdownctl start tea 30s --meta wake=yes
# The machine may sleep only after the program has heard of the countdown: its timer of the boot clock's alarm (9) then runs.
armed() { grep -l '^clockid: 9' "/proc/$notify/fdinfo/"* | xargs grep '^it_value: ([1-9]'; }
eventually armed
before=$(date +%s)
# The hardware clock has no alarm but the one that the kernel sets for the timer.
echo 0 > /sys/class/rtc/rtc0/wakealarm
echo mem > /sys/power/state
fact "awake after $(range $((($(date +%s) - before) * 1000000)) 20 45) s"
late tea 0 15
eventually test -e /run/notify/rings
stop_notify
fact "rings: $(wc -l < /run/notify/rings)"
fact "with the capability, lines about it: $(grep -c CAP_WAKE_ALARM /run/notify/log)"
