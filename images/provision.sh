#!/bin/sh
# Makes the machine one that boots into a node without fetching anything but the agent; as root. Beside it is install.sh
# of the boot script. MIRROR is the base URL of the archives, ITEMS names a file of lines `name version path sha256`, and
# CA_SOURCE, if set, one of PEM.
set -eu
: "${MIRROR:?}" "${ITEMS:?}"
CA=
if [ -n "${CA_SOURCE:-}" ]; then CA=$(cat "$CA_SOURCE"); fi

if command -v apt-get >/dev/null; then
  export DEBIAN_FRONTEND=noninteractive
  apt-get update
  apt-get install -y --no-install-recommends bubblewrap ca-certificates curl iproute2 tar gzip
elif command -v dnf >/dev/null; then
  dnf install -y bubblewrap ca-certificates iproute tar gzip
  command -v curl >/dev/null || dnf install -y curl-minimal
fi

# It is written for a shell without these.
set +eu
. "$(dirname "$0")/install.sh"
mkdir -p "$RUNTIME" || exit 1
trust
while read -r name version path sha256; do
  [ -z "$name" ] || item "$name" "$version" "$path" "$sha256" </dev/null
done <"$ITEMS"
need node bin/node
need java bin/java
need python bin/python3

# Nothing of this machine is to be on those that are made from it.
rm -f "$ROOT/authorities.pem" "$ROOT/all-authorities.pem"
rm -f /etc/ssh/ssh_host_*_key /etc/ssh/ssh_host_*_key.pub /root/.ssh/authorized_keys
: >/etc/machine-id
if command -v cloud-init >/dev/null; then cloud-init clean --logs; fi
sync
