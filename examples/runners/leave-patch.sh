#!/bin/sh
# Starts a command, and leaves its changes to the working copy as artifacts/change.patch: leave-patch.sh COMMAND [ARGUMENT…]
# Git then uses a copy of its directory from before, because the command could have added programs to the configuration.
set -eu
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
trap 'exit 143' TERM
cp -R workspace/.git "$copy/git"
"$@"
export GIT_DIR="$copy/git" GIT_WORK_TREE="$PWD/workspace"
git add --all
git diff --cached --quiet || git diff --cached --binary --no-ext-diff --no-textconv >artifacts/change.patch
