#!/usr/bin/env bash
# Logs in with a code that is sent to a phone: asks for the number, shows a button that sends the code, boxes for the code,
# and a button that sends it again. Leave it with Ctrl-C and run it again: the countdown is still running, because it belongs
# to the daemon. A successful login cancels the countdown, so the next visit can send at once.
#
# usage: examples/verification-code.sh [PHONE]
#
# Nothing is sent: the script shows the message of the phone. LENGTH is the duration of the countdown (default: 60s).
set -euo pipefail

page=$(readlink -f "$0")
letterbox=${XDG_RUNTIME_DIR:-${TMPDIR:-/tmp}}/verification-code-$(id -u)

send() { # PHONE: stands for a request to an SMS gateway
  local code
  code=$(printf '%04d' $((RANDOM % 10000)))
  [ -d "$letterbox" ] || mkdir -m 700 "$letterbox"
  printf '%s\n' "$code" > "$letterbox/$1"
  echo "Your phone shows: code $code, valid for 5 min"
}

if [ "${1-}" = --send ]; then
  send "$2"
  exit
fi

phone=${1-}
[ -n "$phone" ] || read -r -p 'Phone number: ' phone
phone=${phone// /}
if [[ ! $phone =~ ^\+?[0-9]{5,15}$ ]]; then
  echo "verification-code: invalid phone number '$phone': expected 5 to 15 digits, as in +86 138 0013 8000" >&2
  exit 64
fi
key=login/$phone

# A press sends the code and starts the countdown. If the countdown is already running, the button returns at once.
countdownctl button "$key" --once --title 'Get code' --for "${LENGTH:-60s}" -- "$page" --send "$phone"

# The command of the second button is a line for sh and reads these environment variables.
export PAGE=$page PHONE=$phone
echo "Enter the code that was sent to $phone."
# shellcheck disable=SC2016 # sh expands them
resend='"$PAGE" --send "$PHONE"'
while true; do
  code=$(countdownctl ask-code --key "$key" --for "${LENGTH:-60s}" --timeout 5m --resend "$resend") || exit
  [ "$code" != "$(cat "$letterbox/$phone" 2> /dev/null)" ] || break
  echo 'That is not the code. Once more:'
done

# If the countdown has ended, there is nothing to cancel.
countdownctl cancel --quiet "$key" 2> /dev/null || true
rm -f "$letterbox/$phone"
echo "Welcome, $phone."
