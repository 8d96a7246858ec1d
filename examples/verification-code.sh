#!/usr/bin/env bash
# A page that logs in by a code sent to a phone: the number, a button that has the code sent, boxes for the code, and a
# button that has it sent again. Leave it in the middle with Ctrl-C and enter it again: it goes on counting, as the
# countdown is the daemon's. A successful login cancels it, so the next visit can send at once.
#
# usage: examples/verification-code.sh [PHONE]
#
# Nothing is sent: what the phone would show is shown here. LENGTH is how long the buttons count, 60s by default.
set -euo pipefail

page=$(readlink -f "$0")
letterbox=${XDG_RUNTIME_DIR:-${TMPDIR:-/tmp}}/verification-code-$(id -u)

send() { # PHONE: stands for what asks a gateway to send a message
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
  echo "verification-code: '$phone' is no phone number: 5 to 15 digits, as in +86 138 0013 8000" >&2
  exit 64
fi
key=login/$phone

# Pressed, the button sends and counts; where it counts already, it is passed at once.
countdownctl button "$key" --once --title 'Get code' --for "${LENGTH:-60s}" -- "$page" --send "$phone"

# The command of the second button is a line for sh, which finds these in its environment.
export PAGE=$page PHONE=$phone
echo "Enter the code that was sent to $phone."
# shellcheck disable=SC2016 # they are for that shell
resend='"$PAGE" --send "$PHONE"'
while true; do
  code=$(countdownctl ask-code --key "$key" --for "${LENGTH:-60s}" --timeout 5m --resend "$resend") || exit
  [ "$code" != "$(cat "$letterbox/$phone" 2> /dev/null)" ] || break
  echo 'That is not the code. Once more:'
done

# Where it has ended by itself there is nothing to cancel.
countdownctl cancel --quiet "$key" 2> /dev/null || true
rm -f "$letterbox/$phone"
echo "Welcome, $phone."
