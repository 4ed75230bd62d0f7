#!/bin/bash
# Installs what `npm pack` makes into an empty directory, without a network, and goes from nothing to a run that a signed
# delivery started. The last line says whether all is well.
#   npm run build && deploy/try-package.sh [path of a node, or of several]
# Needs npm, curl and openssl.
set -euo pipefail
mapfile -t nodes < <(realpath "${@:-$(command -v node)}")
cd "$(dirname "$0")/.."
scratch=$(mktemp -d)
daemon=
trap '[ -z "$daemon" ] || kill "$daemon" || true; rm -rf "$scratch"' EXIT
npm pack --silent --ignore-scripts --pack-destination "$scratch" >/dev/null

for node in "${nodes[@]}"; do
  directory=$scratch/$("$node" --version)
  mkdir "$directory"
  cd "$directory"
  export HOME=$directory
  # With an empty cache and no registry, everything must be in the tarball.
  npm install --silent --offline --no-audit --no-fund --cache "$directory/cache" "$scratch"/*.tgz
  bin=node_modules/hookmill/cli/bin.js
  hookmill() { "$node" "$bin" "$@"; }

  hookmill init >/dev/null
  secret=$(openssl rand -hex 32)
  hookmill secrets set CODE_WEBHOOK <<<"$secret" 2>/dev/null
  printf 'authMode: signature\nsignatureScheme: github\nsecretName: CODE_WEBHOOK\n' >webhooks/code.yaml
  hookmill apply >/dev/null
  uid=$(hookmill webhooks show code -o json | sed -n 's/^  "uid": "\(.*\)",$/\1/p')
  cat >automations/review.yaml <<YAML
prompt: Review the push.
triggers:
  - { provider: webhook, event: received, filter: { webhook_ids: [$uid], payload: { ref: [refs/heads/main] } } }
YAML
  hookmill apply >/dev/null

  "$node" "$bin" serve --port 0 --management-port 0 --log-level warn >ready &
  daemon=$!
  until grep -q 'hookmill serves' ready; do kill -0 "$daemon"; done
  url=$(sed -n 's/.* on \(http:[^ ]*\) (.*/\1/p' ready)/webhooks/w/$uid
  body='{"ref":"refs/heads/main"}'
  signature=$(printf %s "$body" | openssl dgst -sha256 -hmac "$secret" | sed 's/.* //')
  send() {
    curl -s -o answer -w '%{http_code}' -H 'Content-Type: application/json' -H 'X-GitHub-Delivery: push-1' \
      -H "X-Hub-Signature-256: sha256=$1" -d "$body" "$url"
  }
  [ "$(send "${signature//[0-9]/0}")" = 401 ]
  [ "$(send "$signature")" = 202 ]
  [ "$(send "$signature")" = 202 ]
  until [ "$(hookmill runs list -o json | grep -c '"state": "succeeded"')" = 1 ]; do kill -0 "$daemon"; done
  kill "$daemon"
  wait "$daemon"
  daemon=
  echo "Node.js $("$node" --version): installed, applied, refused a wrong signature, accepted a delivery, ended its run"
done
echo 'All is well'
