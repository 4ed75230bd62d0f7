#!/bin/sh
# Hides what a repository tells agents to do, then starts a command: hide-instructions.sh COMMAND [ARGUMENT…]
# To git, the files are outside a sparse checkout and not deleted: a commit keeps them.
set -eu
if [ -d workspace ]; then
  git -C workspace sparse-checkout set --no-cone '/*' '!AGENTS*.md' '!CLAUDE*.md' '!CONTEXT.md' '!GEMINI.md'
fi
exec "$@"
