# rtc: 2031-03-01T12:00:10
# The clock is set while no daemon runs: within one boot, the remaining time is known exactly all the same.
# shellcheck shell=dash

start_daemon
countdownctl start elapsed 30m
countdownctl start wall --until "$(in_seconds 5450)"
tell elapsed wall

fact stopped, one hour forward
stop_daemon
step 3600
start_daemon
tell elapsed wall
left elapsed 1740 1799
left wall 1790 1849

fact killed, two hours back
kill_daemon
step -7200
start_daemon
tell elapsed wall
left elapsed 1740 1799
left wall 8990 9049

fact killed, three hours forward
kill_daemon
step 10800
start_daemon
tell elapsed wall
left elapsed 1740 1799
