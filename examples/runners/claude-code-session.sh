#!/bin/sh
# Starts Claude Code with one session for all runs of a lane: claude-code-session.sh [OPTION…]
# The ID of the session is a hash of the lane, as a UUID of version 8 (RFC 9562).
set -eu
if [ -n "${HOOKMILL_LANE:-}" ]; then
  session=$(printf '%s/%s/%s' "$HOOKMILL_FACTORY" "$HOOKMILL_AUTOMATION" "$HOOKMILL_LANE" | sha256sum |
    sed -E 's/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*/\1-\2-8\3-8\4-\5/')
  if [ -n "$(find "$HOME/.claude/projects" -name "$session.jsonl" 2>/dev/null)" ]; then
    set -- --resume "$session" "$@"
  else
    set -- --session-id "$session" "$@"
  fi
fi
exec claude "$@"
