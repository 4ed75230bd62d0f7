#!/bin/sh
# Starts a workflow for a run: github-actions.sh OWNER/REPOSITORY WORKFLOW BRANCH
# The inputs are IDs that hookmill made. The workflow fetches the payload itself.
set -eu
url="${GITHUB_API_URL:-https://api.github.com}/repos/$1/actions/workflows/$2/dispatches"
inputs="{\"run_id\":\"$HOOKMILL_RUN_ID\",\"delivery_id\":\"$HOOKMILL_DELIVERY_ID\",\"factory\":\"$HOOKMILL_FACTORY\"}"
# The token is in curl's configuration, because every user of the machine can see arguments.
printf 'header = "Authorization: Bearer %s"\n' "$GITHUB_DISPATCH_TOKEN" |
  curl --config - --silent --show-error --fail-with-body --max-time 30 --request POST \
    --header 'Accept: application/vnd.github+json' --header 'X-GitHub-Api-Version: 2026-03-10' \
    --header 'Content-Type: application/json' --data "{\"ref\":\"$3\",\"inputs\":$inputs}" "$url"
