# rtc: 2031-03-01T12:00:10
# A countdown runs on while the machine is suspended to memory: one that ended meanwhile has its lateness, another one has
# less time remaining; ticks that fell into the suspend are not made up for.
# shellcheck shell=dash

start_daemon
follow
countdownctl start short 12s
countdownctl start long 10m
tell long

fact half a minute of suspend
suspend_to_memory 30
late short 10 30
left long 540 570
heard short finished
heard long started
fact "ticks of short between $(range "$(grep -c '"type":"tick".*"key":"short"' /run/events)000000" 0 11)"
