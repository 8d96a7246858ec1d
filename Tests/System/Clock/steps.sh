# rtc: 2031-03-01T12:00:10
# The clock is set forward and back under a running daemon: an elapsed countdown keeps its remaining time; one with a
# deadline keeps the deadline and ends when it has passed; one that is about to end, ends in time.
# shellcheck shell=dash

start_daemon
follow
countdownctl start elapsed 30m
countdownctl start wall --until "$(in_seconds 5450)"
tell elapsed wall

fact one hour forward
step 3600
tell elapsed wall
left elapsed 1740 1799
left wall 1790 1849

fact two hours back, and one that is about to end
countdownctl start soon 5s
step -7200
# Before any call: the daemon must notice the clock step by itself.
late soon 0 2
tell elapsed wall
left elapsed 1740 1799
left wall 8990 9049
heard soon finished

fact three hours forward
step 10800
late wall 1740 1800
tell elapsed wall
left elapsed 1740 1799
heard wall finished
heard elapsed adjusted
