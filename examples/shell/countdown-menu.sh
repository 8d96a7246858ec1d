#!/bin/bash
# A menu of countdowns in rofi or fuzzel, for a key of the desktop: a choice pauses the countdown or resumes it, and typed text
# such as `5m Green tea` starts a timer.
set -euo pipefail
menu=(rofi -dmenu -p countdown)
command -v rofi > /dev/null || menu=(fuzzel --dmenu --prompt 'countdown ')
mapfile -t keys < <(countdownctl watch --format json | head -n 1 | jq -r '.countdowns[].key')
for key in "${keys[@]}"; do
  lines+=("$(countdownctl show --key "$key" --format '{label}  {remaining}  {state}')")
done
choice=$(printf '%s\n' "${lines[@]-}" | "${menu[@]}") || exit 0
for index in "${!keys[@]}"; do
  [ "$choice" != "${lines[index]}" ] || exec countdownctl toggle --key "${keys[index]}"
done
read -ra words <<< "$choice" && exec countdownctl timer "${words[@]}"
