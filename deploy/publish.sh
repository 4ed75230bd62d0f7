#!/bin/bash
# Checks that the package can be published, and shows what would be in it. With --publish, publishes it with provenance,
# which npm makes only in a workflow of a git host that it trusts.
#   deploy/publish.sh [--publish]
set -euo pipefail
cd "$(dirname "$0")/.."
fail() { echo "Not published: $1" >&2; exit 1; }

version=$(node -p "require('./package.json').version")
[ -z "$(git status --porcelain)" ] || fail 'the work tree has changes; commit them'
[ -n "$(git tag --points-at HEAD --list "v$version")" ] || fail "the commit has no tag v$version"
grep -q "^## \[$version\] - " CHANGELOG.md || fail "CHANGELOG.md has no section for $version"
[ -f "test/fixtures/homes/$version.tar.gz" ] || fail "test/fixtures/homes/ has no home of $version"
.ci/run
deploy/try-package.sh
if [ "${1:-}" = --publish ]; then npm publish --provenance --access public; else npm publish --dry-run; fi
