#!/usr/bin/env bash
# usage: send-code.sh PHONE
#
# Sends a verification code: three at once for each phone number, then one per 3:20. A code that could not be sent does not
# count. If there were too many, this prints the seconds until the next one, as HTTP has it in Retry-After, and exits with
# code 75. send-code is your program. A rate is not a hard cap: any ten minutes may see five codes, three at once and two
# later.
set -euo pipefail

phone=${1:?usage: send-code.sh PHONE}
refused=99 # a code that send-code does not return

status=0
output=$(countdownctl run "codes/$phone" --rate 3/10m --quiet --json -E "$refused" -- send-code "$phone") || status=$?
if [ "$status" -ne "$refused" ]; then
  [ -z "$output" ] || printf '%s\n' "$output"
  exit "$status"
fi
jq '.retryAfterUSec // empty | . / 1000000 | ceil' <<< "$output"
exit 75
