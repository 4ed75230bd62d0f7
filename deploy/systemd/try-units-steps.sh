#!/bin/bash
# The steps of try-units.sh, executed by the systemd that it starts.
set -euo pipefail
export PATH=/opt/hookmill/node_modules/.bin:$PATH
step() { echo "== $1"; }
trap "systemctl status --no-pager hookmill.service || tail /run/daemon.log" ERR

# As the user of the service, with the key that only root can read.
as_service() {
  HOOKMILL_KEY=$(cat /etc/hookmill/key) HOOKMILL_HOME=/var/lib/hookmill runuser -u hookmill -- "$@"
}

step 'The service starts, and says itself when it is ready'
systemctl start hookmill.socket hookmill.service
systemctl show --property=ActiveState,SubState,Type,WatchdogUSec,User hookmill.service

step 'A delivery is accepted'
install -d -o hookmill /tmp/definitions/webhooks
printf 'authMode: token\nsecretName: BUILDS_TOKEN\n' > /tmp/definitions/webhooks/builds.yaml
cd /tmp/definitions
as_service hookmill secrets generate BUILDS_TOKEN > /dev/null
as_service hookmill apply
echo '{"action":"failed"}' > payload.json
as_service hookmill send builds --payload payload.json

step 'While the service restarts, a delivery waits and is accepted'
systemctl restart --no-block hookmill.service
as_service hookmill send builds --payload payload.json
systemctl start hookmill.service

step 'The key is not in the environment of the daemon, and the home belongs to the service'
pid=$(systemctl show --property=MainPID --value hookmill.service)
! tr '\0' '\n' < "/proc/$pid/environ" | grep '^HOOKMILL_KEY='
stat --format='%U %a %n' /var/lib/hookmill /var/lib/hookmill/deliveries.db
test ! -e /var/lib/hookmill/key

step 'A daemon that hangs is ended by the watchdog, and started again'
kill -STOP "$pid"
while [ "$(systemctl show --property=NRestarts --value hookmill.service)" = 0 ]; do sleep 1; done
systemctl start hookmill.service
as_service hookmill send builds --payload payload.json
systemctl show --property=NRestarts,ActiveState hookmill.service

step 'It stops in order'
systemctl stop hookmill.service
systemctl show --property=Result,ExecMainStatus hookmill.service

echo 'All is well: the units work under systemd.'
