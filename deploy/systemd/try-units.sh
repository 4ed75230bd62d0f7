#!/bin/bash
# Follows docs/running.md, "With systemd", under a systemd of its own: from the package to a delivery that is accepted
# behind TLS. Shows that a restart refuses none, and that the watchdog restarts a daemon that hangs.
# Everything happens in namespaces, over a copy of this machine that is gone afterwards, or over a Debian with nothing else:
# a tarball of its root, to which Node.js and npm are added as their own tarball has them. Without a network, the package
# comes from `npm pack`, Node.js from node_modules, and Caddy's certificate from itself.
#   npm run build && sudo deploy/systemd/try-units.sh
#   mmdebstrap --variant=minbase --include=systemd,openssl,curl,caddy,ca-certificates trixie debian.tar
#   sudo deploy/systemd/try-units.sh debian.tar
# Needs root, systemd 253 or newer, iproute2, openssl, curl, npm, Caddy and overlayfs. The last line says whether all is well.
set -euo pipefail
package=$(realpath "$(dirname "$0")/../..")

if [ "${1:-}" != inside ]; then
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  status=0
  (cd "$package" && npm pack --silent --ignore-scripts --pack-destination "$scratch" > /dev/null)
  if [ $# = 1 ]; then
    mkdir "$scratch/debian"
    tar --extract --file "$1" --directory "$scratch/debian"
    mkdir -p "$scratch/debian/usr/local/lib/node_modules"
    cp "$package/node_modules/node/bin/node" "$scratch/debian/usr/local/bin"
    cp -r "$(dirname "$(dirname "$(realpath "$(command -v npm)")")")" "$scratch/debian/usr/local/lib/node_modules/npm"
    ln -s ../lib/node_modules/npm/bin/npm-cli.js "$scratch/debian/usr/local/bin/npm"
  fi
  unshare --fork --kill-child --pid --mount --cgroup --uts --ipc --net "$0" inside "$scratch" || status=$?
  cat "$scratch/report"
  grep -q '^All is well' "$scratch/report" || { echo "Not all is well (systemd ended with $status)."; exit 1; }
  exit
fi

report=$2/report root=$2/root
touch "$report"
mount --make-rprivate /
mkdir "$2"/{layers,root}
mount -t tmpfs tmpfs "$2/layers"
mkdir "$2"/layers/{upper,work}
lower=/
[ ! -e "$2/debian" ] || lower=$2/debian
mount -t overlay overlay -o "lowerdir=$lower,upperdir=$2/layers/upper,workdir=$2/layers/work" "$root"

# Read-only, so that systemd leaves the devices of this machine alone.
mount -t sysfs -o ro sysfs "$root/sys"
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
mount -t proc proc "$root/proc"
for directory in dev run tmp var/tmp; do mount -t tmpfs tmpfs "$root/$directory"; done
for device in null zero full random urandom tty; do
  touch "$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
mkdir "$root"/dev/{pts,shm,mqueue,hugepages}
mount -t devpts devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
touch "$root/dev/console" "$root/run/report"
mount --bind /dev/null "$root/dev/console"
mount --bind "$report" "$root/run/report"
ip link set lo up

echo 127.0.0.1 localhost hooks.example.com >> "$root/etc/hosts"
cp "$2"/hookmill-*.tgz "$root/run/hookmill.tgz"
cp "$package/node_modules/node/bin/node" "$package/deploy/systemd/try-units-steps.sh" "$root/run"
# The blocks of commands on the page, with what a machine without a network has instead.
sed -n '/^## With systemd/,/^## /p' "$package/docs/running.md" | sed -n '/^```sh/,/^```/p' | sed -e '/^```/d' \
  -e 's|^npm install --prefix \([^ ]*\) .*|npm install --silent --offline --no-audit --no-fund --cache /tmp/npm --prefix \1 /run/hookmill.tgz \&\& cp /run/node \1/node_modules/.bin/node|' \
  -e '/^apt-get /d' -e 's|^  reverse_proxy|  tls internal\n&|' > "$root/run/page.sh"
mkdir -p "$root"/run/systemd/system
# There is no journal.
for unit in hookmill caddy; do
  mkdir "$root/run/systemd/system/$unit.service.d"
  printf '[Service]\nStandardOutput=append:/run/%s.log\nStandardError=append:/run/%s.log\n' $unit $unit > "$root/run/systemd/system/$unit.service.d/log.conf"
done
cat > "$root/run/systemd/system/try.service" << UNIT
[Unit]
Description=Tries the units of hookmill
DefaultDependencies=no
[Service]
Type=oneshot
StandardOutput=append:/run/report
StandardError=append:/run/report
ExecStart=/run/try-units-steps.sh
ExecStopPost=systemctl --force --force poweroff
UNIT
# Not chroot, in which systemd could make no namespace for the service.
cd "$root"
mkdir -p run/before
pivot_root . run/before
umount --lazy /run/before
# As systemd expects it of whatever starts it in a container.
mount --make-rshared /
exec env container=other /lib/systemd/systemd --unit=try.service --log-target=null
