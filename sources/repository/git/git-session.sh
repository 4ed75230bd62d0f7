#!/bin/sh
# Runs git with the given arguments in a session of its own, without a terminal on which anything could prompt. The helpers
# that git starts (git-remote-https, ssh, index-pack) end with it. SIGINT ends them all, and so does the end of hookmill,
# which closes standard input. HOOKMILL_GIT_PREFIX has words to put before git, one on each line.

if [ "$1" != --in-session ]; then
  command -v git >/dev/null || { echo 'git cannot be run: not found' >&2; exit 127; }
  command -v setsid >/dev/null && exec setsid /bin/sh "$0" --in-session "$@"
  # macOS has no setsid.
  exec perl -MPOSIX=setsid -e 'setsid; exec @ARGV' /bin/sh "$0" --in-session "$@"
fi
shift

end() {
  kill -KILL -$$
}
trap end INT
exec 3<&0 </dev/null
# Node.js also closes standard input when this script has ended, whatever git left behind.
{ read -r line <&3; end; } >/dev/null 2>&1 &

IFS='
'
set -f
prefix=$HOOKMILL_GIT_PREFIX
unset HOOKMILL_GIT_PREFIX
# The lower priority keeps a large fetch from slowing down the ingress.
nice -n 10 $prefix git "$@" 3<&- &
wait $!
