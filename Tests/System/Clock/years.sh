# rtc: 2031-03-01T12:00:10
# Ten years forward and back again: the remaining time stays, and each end is delivered.
# shellcheck shell=dash

start_daemon
follow
countdownctl start elapsed 30m
countdownctl start wall --until "$(in_seconds 5450)"

fact ten years forward
step 315576000
late wall 315570550 315570600
heard wall finished
tell elapsed
left elapsed 1740 1799

fact ten years back
step -315576000
tell elapsed
left elapsed 1740 1799
countdownctl start later --until "$(in_seconds 5450)"
tell later
