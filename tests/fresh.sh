#!/usr/bin/env bash
# fresh.sh SUITE [SHARE]: README's two commands as they stand, in a clone of HEAD, under an empty environment, on a new Debian SUITE
# that has what README asks for and nothing else: bookworm has the oldest Python (3.11.2), sid the newest. SHARE=1/12: that share of
# the tests. Needs root and mmdebstrap. pip's downloads are kept in build/fresh-pip, the system goes when it passed.
set -eu -o pipefail
cd "$(dirname "$0")/.."
suite=$1 share=${2:-1/1}
system=$PWD/build/fresh-$suite
rm -rf --one-file-system "$system"
mkdir -p build/fresh-pip
started=$SECONDS
mmdebstrap --quiet --variant=apt --dpkgopt=force-unsafe-io --aptopt='Acquire::Check-Valid-Until "false"' \
  --include=python3,python3-venv,python3-dev,make,gcc,libc6-dev,git,ca-certificates "$suite" "$system" >"build/fresh-$suite.log" 2>&1 ||
  { tail -n 20 "build/fresh-$suite.log"; exit 1; }
for file in /etc/resolv.conf /etc/pip.conf /etc/ssl/certs/ca-certificates.crt; do # how this machine reaches an index
  if [ -e $file ]; then cp $file "$system$file"; fi
done
mkdir -p "$system/root/.cache/pip"
git clone -q . "$system/root/pteron"
echo "fresh $suite: made in $((SECONDS - started)) s"
inside() { # everything it starts ends with it
  unshare --mount --pid --fork --kill-child bash -eu -c '
    mount -t proc proc "$1/proc"; mount -t sysfs -o ro sys "$1/sys"; mount --rbind /dev "$1/dev"; mount -t tmpfs shm "$1/dev/shm"
    mount --bind build/fresh-pip "$1/root/.cache/pip"
    exec chroot "$1" /usr/bin/env -i HOME=/root PATH=/usr/bin:/bin sh -c "cd /root/pteron && $2"' - "$system" "$1"
}
inside 'python3 -V; gcc --version | head -n 1'
for command in "make demo" "make test${share:+ SHARE=$share}"; do
  at=$SECONDS
  inside "$command"
  echo "fresh $suite: $command ($((SECONDS - at)) s)"
done
rm -rf --one-file-system "$system"
