#!/bin/bash
# Starts the example of this directory without a registry, sends a delivery through the proxy, and finds it in Prometheus.
# Images with the names that compose.yaml uses are made of Debian's packages; Debian has no Grafana, so it is left out. Its
# podman-compose knows neither `configs` nor the network of another service: podman-commands.ts says the same to podman.
#   npm run build && sudo deploy/compose/try-stack.sh
# Needs root, curl, podman, golang-github-containernetworking-plugin-dnsname, dnsmasq-base, and mmdebstrap with a mirror, or
# the tarball of a Debian with the packages below as argument. The last line says whether all is well.
set -euo pipefail
package=$(realpath "$(dirname "$0")/../..")

if [ "${1:-}" != inside ]; then
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  if [ $# = 1 ]; then ln -s "$(realpath "$1")" "$scratch/debian.tar"
  else mmdebstrap --quiet --variant=minbase --include=postgresql,prometheus,haproxy,git,tini bookworm "$scratch/debian.tar"; fi
  (cd "$package" && npm pack --silent --ignore-scripts --pack-destination "$scratch" > /dev/null)
  # Ports, processes and mounts are this script's own, and gone afterwards.
  unshare --fork --kill-child --pid --mount-proc --mount --net "$0" inside "$scratch" || { echo 'Not all is well.'; exit 1; }
  exit
fi

cd "$2"
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mount -t tmpfs tmpfs /run
mkdir -p run context/node:24 networks /run/lock
ip link set lo up
export CONTAINERS_CONF=$PWD/containers.conf CONTAINERS_STORAGE_CONF=$PWD/storage.conf
cat > storage.conf << CONF
[storage]
driver = "overlay"
graphroot = "$PWD/images"
runroot = "/run/containers"
CONF
cat > containers.conf << CONF
[containers]
cgroups = "disabled"
default_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "none"
[network]
network_config_dir = "$PWD/networks"
CONF

build() { podman build --quiet --isolation=chroot --format=docker --tag "localhost/$1" "${@:2}" > /dev/null; }
image() { mkdir -p "context/$1"; cat > "context/$1/Containerfile"; build "$1" "context/$1"; }
podman import --quiet debian.tar localhost/debian > /dev/null
cp "$package/node_modules/node/bin/node" context/node:24
image node:24 <<< $'FROM localhost/debian\nCOPY node /usr/local/bin/node'
cp hookmill-*.tgz "$package/deploy/Containerfile" context
build hookmill:0.1.0 --build-arg=BASE=localhost/node:24 context
image haproxy:3.2-alpine << 'FILE'
FROM localhost/debian
ENTRYPOINT ["haproxy", "-W", "-db", "-f", "/usr/local/etc/haproxy/haproxy.cfg"]
FILE
image prom/prometheus:v3.5.0 << 'FILE'
FROM localhost/debian
ENTRYPOINT ["prometheus", "--config.file=/etc/prometheus/prometheus.yml", "--storage.tsdb.path=/prometheus"]
FILE
# As the image of PostgreSQL does: a database of the variables, in the volume.
cat > context/start << 'FILE'
#!/bin/sh -e
chown postgres /var/lib/postgresql
cd /var/lib/postgresql
run() { setpriv --reuid=postgres --regid=postgres --clear-groups "$@"; }
(umask 077 && echo "$POSTGRES_PASSWORD" > /tmp/password && chown postgres /tmp/password)
run initdb --no-sync --pgdata=data --username="$POSTGRES_USER" --pwfile=/tmp/password --auth=scram-sha-256 > /dev/null
echo "CREATE DATABASE $POSTGRES_DB" | run postgres --single -D data postgres > /dev/null
echo 'host all all all scram-sha-256' >> data/pg_hba.conf
exec setpriv --reuid=postgres --regid=postgres --clear-groups postgres -D data -c 'listen_addresses=*' -k /tmp
FILE
mkdir context/postgres:18
install context/start context/postgres:18
image postgres:18 << 'FILE'
FROM localhost/debian
RUN ln -s /usr/lib/postgresql/*/bin/* /usr/local/bin/
COPY start /usr/local/bin/start
STOPSIGNAL SIGINT
ENTRYPOINT ["start"]
FILE

echo 'Debian has no Grafana: that service is left out.'
POSTGRES_PASSWORD=$(od -An -N24 -tx1 /dev/urandom | tr -d ' \n')
(umask 077 && head -c 32 /dev/urandom | base64 > hookmill.key && chown 1000 hookmill.key)
export POSTGRES_PASSWORD HOOKMILL_BASE_URL=http://localhost:8080
"$package/node_modules/node/bin/node" "$package/deploy/compose/podman-commands.ts" "$package/deploy/compose/compose.yaml" "$PWD" grafana > start.sh
wait_for() {
  for _ in $(seq 240); do "${@:2}" > /dev/null 2>&1 && return; sleep 0.5; done
  echo "$1: not in time"
  podman ps --all
  podman logs one
  return 1
}
podman network create hookmill > /dev/null
while read -r command; do
  eval "$command" > /dev/null
  case $command in *"'--name=postgres'"*) wait_for PostgreSQL podman exec postgres pg_isready --host localhost --username hookmill ;; esac
done < start.sh
wait_for 'the daemons' curl --fail --silent http://127.0.0.1:8081/healthz
podman ps --format '{{.Names}}: {{.Image}}, {{.Status}}'

secret=$(podman exec one hookmill secrets generate DEPLOYS)
podman exec one sh -c 'mkdir -p /tmp/hooks/webhooks && echo "secretName: DEPLOYS" > /tmp/hooks/webhooks/deploys.yaml'
url=$(podman exec --workdir /tmp/hooks one hookmill apply | grep -o 'http://[^ ]*/webhooks/w/[^ ]*')
deliver() {
  curl --silent --header "Authorization: Bearer $secret" --data '{}' --write-out '%{http_code}' --output answer "$url"
}
accepted() { [ "$(deliver)" = 202 ]; }
wait_for 'an accepted delivery' accepted
echo "A delivery through HAProxy: 202 $(cat answer)"
query='sum(hookmill_ingress_requests_total{webhook="deploys",result="accepted"})'
counted() { curl --silent --get --data-urlencode "query=$query" http://127.0.0.1:9090/api/v1/query > metric && grep -q '"value":\[[0-9.]*,"[1-9]' metric; }
wait_for 'the metric in Prometheus' counted
echo "Prometheus: $query is $(grep -o '"value":.*' metric)"
up() { curl --silent 'http://127.0.0.1:9090/api/v1/query?query=sum(up)' | grep -q '"2"'; }
wait_for 'both daemons in Prometheus' up
podman stop one two > /dev/null
podman stop --all > /dev/null
echo 'All is well.'
