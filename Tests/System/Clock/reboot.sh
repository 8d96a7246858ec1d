# rtc: 2031-03-01T12:00:10
# rtc: 2031-03-01T11:05:30
# rtc: 2031-03-02T11:05:30
# The clock is set one hour back, the daemon is killed, and the machine boots: the remaining time is the one from before, less
# the time that has passed by the clock. A day later all have ended at their deadlines, and a paused one is still paused.
# shellcheck shell=dash

start_daemon
case ${boot:?} in
  1)
    countdownctl start short 2m
    countdownctl start elapsed 30m
    countdownctl start wall --until "$(in_seconds 5450)"
    countdownctl start paused 10m
    countdownctl pause paused
    fact one hour back
    step -3600
    tell short elapsed wall
    kill_daemon
    sync
    ;;
  *)
    fact "boot $boot"
    tell short elapsed wall
    fact "paused $(field paused state)"
    left paused 590 599
    [ "$boot" = 3 ] || left elapsed 1430 1529
    ;;
esac
