#!/bin/bash
# The steps of try-units.sh, executed by the systemd that it starts.
set -euo pipefail
export PATH=/opt/hookmill/node_modules/.bin:$PATH
step() { echo "== $1"; }
trap "systemctl status --no-pager hookmill.service caddy.service; tail /run/hookmill.log /run/caddy.log" ERR

# As the user of the service, with the key that only root can read.
as_service() {
  HOOKMILL_KEY=$(cat /etc/hookmill/key) HOOKMILL_HOME=/var/lib/hookmill runuser -u hookmill -- "$@"
}

step 'The commands of the page'
cat /run/page.sh
bash -euo pipefail /run/page.sh
systemctl show --property=ActiveState,SubState,Type,WatchdogUSec,User hookmill.service

step 'A delivery that is signed as GitHub does is accepted behind TLS'
install -d -o hookmill /tmp/definitions/webhooks
printf 'authMode: signature\nsignatureScheme: github\nsecretName: CODE\n' > /tmp/definitions/webhooks/code.yaml
cd /tmp/definitions
secret=$(openssl rand -hex 32)
as_service hookmill secrets set CODE <<< "$secret"
as_service hookmill apply
url=$(as_service hookmill webhooks show code | sed -n 's/^url  *//p')
echo "$url" | grep '^https://hooks.example.com/webhooks/w/'
authority=/var/lib/caddy/.local/share/caddy/pki/authorities/local/root.crt
until [ -e "$authority" ]; do sleep 0.1; done
install -m 0644 "$authority" /tmp/authority.crt
export NODE_EXTRA_CA_CERTS=/tmp/authority.crt
# Each delivery has an ID of its own.
send() {
  body="{\"delivery\":\"$1\"}"
  signature=$(printf %s "$body" | openssl dgst -sha256 -hmac "$secret" | sed 's/.* //')
  curl --silent --show-error --fail --retry 5 --retry-connrefused --cacert "$authority" --data "$body" --header "X-GitHub-Delivery: $1" \
    --header 'Content-Type: application/json' --header "X-Hub-Signature-256: sha256=$signature" --write-out ' %{http_code}\n' "$url"
}
send 1
as_service hookmill doctor

step 'While the service restarts, a delivery waits and is accepted'
systemctl restart --no-block hookmill.service
send 2
systemctl start hookmill.service

step 'The key is not in the environment of the daemon, and the home belongs to the service'
pid=$(systemctl show --property=MainPID --value hookmill.service)
! tr '\0' '\n' < "/proc/$pid/environ" | grep '^HOOKMILL_KEY='
stat --format='%U %a %n' /var/lib/hookmill /var/lib/hookmill/deliveries.db
test ! -e /var/lib/hookmill/key

step 'No other process of the service speaks for it, not even as its own user'
for user in hookmill nobody; do
  for message in WATCHDOG=trigger STOPPING=1 MAINPID=1; do
    bash -c 'echo $$ > /sys/fs/cgroup/system.slice/hookmill.service/cgroup.procs
      NOTIFY_SOCKET=/run/systemd/notify exec nsenter --target "$1" --mount setpriv --reuid="$2" --clear-groups systemd-notify "$3"' bash "$pid" "$user" "$message"
  done
done
# systemd has read the messages before it answers this.
systemctl daemon-reload
test "$(systemctl show --property=NRestarts,MainPID,ActiveState --value hookmill.service | tr '\n' ' ')" = "$pid 0 active "

step 'A daemon that hangs is ended by the watchdog, and started again'
kill -STOP "$pid"
while [ "$(systemctl show --property=NRestarts --value hookmill.service)" = 0 ]; do sleep 1; done
systemctl start hookmill.service
send 3
systemctl show --property=NRestarts,ActiveState hookmill.service

step 'It stops in order'
systemctl stop hookmill.service
systemctl show --property=Result,ExecMainStatus hookmill.service

echo 'All is well: the page works as it stands.'
