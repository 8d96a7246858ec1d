#!/bin/sh
# 25 minutes of work and 5 of break, in turn: each end starts the other. Begin with `countdownctl start work 25m`; pause it, or
# cancel it to stop. Run this in the background, or each line as a hook: ends that come while nothing runs are not lost.
countdownctl watch work -q --on finished --exec 'countdownctl start break 5m' --cursor-file "$HOME/.work.cursor" &
countdownctl watch break -q --on finished --exec 'countdownctl start work 25m' --cursor-file "$HOME/.break.cursor"
