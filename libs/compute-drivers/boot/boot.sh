# Turns the machine into a node. It runs at the first boot or at each boot, after the node's settings and install.sh.
# PLATFORM_ROOT, PLATFORM_ADDRESS, PLATFORM_UIDS, PLATFORM_METADATA_URL, PLATFORM_SYSTEMD=no and PLATFORM_DISKS=no override
# its defaults.
NODE_DIR=$ROOT/node
CONFIG=$NODE_DIR/agent.json
STATE=$NODE_DIR/state
JOURNAL=$STATE/agent.json

# Reports the reason of a failure to the API, so that the cluster shows it.
report() {
  code=$?
  trap - EXIT
  [ "$code" -ne 0 ] || exit 0
  words=$(printf 'The machine failed while %s: ' "$STEP"; tail -n 20 "$ROOT/boot.log" | tail -c 1500)
  words=$(printf '%s' "$words" | tr '\n\t' '  ' | LC_ALL=C tr -cd '\040-\176' | sed 's/["\\]/ /g')
  printf '{"error":"%s"}' "$words" >"$ROOT/failure.json"
  printf 'header = "Authorization: Bearer %s"\n' "$TOKEN" |
    curl -fsS -K - --retry 3 --max-time 15 ${CA_FILE:+--cacert "$CA_FILE"} -o /dev/null \
      -H 'Content-Type: application/json' --data-binary "@$ROOT/failure.json" "$API/agent/v1/boot-failure"
  exit "$code"
}

# Prints the address at which other nodes reach this machine.
address() {
  found=$(ip -4 -o route get 192.0.2.1 2>/dev/null | sed -n 's/.* src \([0-9.]*\).*/\1/p')
  [ -n "$found" ] || found=$(hostname -I 2>/dev/null | tr ' ' '\n' | grep -m1 '^[0-9.]*$')
  [ -n "$found" ] || fail 'The machine has no IPv4 address.'
  printf '%s' "$found"
}

has_own_token() {
  grep -q '"node_token": *"' "$JOURNAL" 2>/dev/null
}

# optional FOLDER FILE: prints the path as JSON, or null if it does not exist.
optional() {
  if [ -e "$RUNTIME/$1$2" ]; then printf '"%s"' "$RUNTIME/$1$2"; else printf null; fi
}

configure() {
  token=$TOKEN
  has_own_token && token=spent
  notice=
  [ -z "$NOTICE" ] || notice=",\"interruption_notice\":{\"kind\":\"$NOTICE\"${PLATFORM_METADATA_URL:+,\"base_url\":\"$PLATFORM_METADATA_URL\"}}"
  where=${PLATFORM_ADDRESS:-$(address)} || exit 1
  cat >"$CONFIG.new" <<END
{"api_url":"$API","bootstrap_token":"$token","node_dir":"$NODE_DIR/data","state_dir":"$STATE","spark_home":"$RUNTIME/spark-$SPARK",
"java_home":"$RUNTIME/java","python":"$RUNTIME/python/bin/python3","class_archive":$(optional "class-archive-$SPARK" /spark.jsa),
"connectors":$(optional "connectors-$SPARK" ''),"scala_kernel":$(optional "scala-kernel-$SPARK" ''),
"turbo":$(optional "turbo-$SPARK" /turbo.jar),"rapids":$(optional "rapids-$SPARK" /rapids.jar),
"spark_version":"$SPARK","cores":$CORES,"memory_mb":$MEMORY,
"bind_address":"$where","env":{"SPARK_LOCAL_IP":"$where"}$notice}
END
  mv -f "$CONFIG.new" "$CONFIG"
}

# Mounts the data disks as the node's folder at each boot. It holds jobs, Spark's local folders and logs, but not the state of
# the agent, because local disks of a host are empty after a stop. Only an empty disk is formatted.
write_disks() {
  cat >"$ROOT/use-disks" <<END
#!/bin/sh
DATA='$NODE_DIR/data'
WANTED=${DISKS:-0}
END
  cat >>"$ROOT/use-disks" <<'END'
LABEL=platform-data
say() { echo "disks: $1" >&2; }
[ "$WANTED" -gt 0 ] && [ "${PLATFORM_DISKS:-}" != no ] || exit 0
if [ "$(id -u)" != 0 ]; then say 'not mounted: this is not root'; exit 0; fi
for tool in lsblk blkid mkfs.ext4 mount mountpoint; do
  command -v "$tool" >/dev/null || { say "not mounted: the machine has no $tool"; exit 0; }
done
! mountpoint -q "$DATA" || exit 0
! command -v udevadm >/dev/null || udevadm settle -t 10
ours() { blkid -c /dev/null -t LABEL=$LABEL -s UUID -o value | head -n 1; }
# Prints the unused disks, largest first.
blank() {
  lsblk -bdnro NAME,TYPE,RO,SIZE | sort -rnk4 | while read -r name type ro size; do
    [ "$type" = disk ] && [ "$ro" = 0 ] && [ "$size" -ge 1073741824 ] || continue
    [ "$(lsblk -nro NAME "/dev/$name" | wc -l)" = 1 ] || continue
    [ -z "$(lsblk -nro MOUNTPOINT "/dev/$name")" ] || continue
    blkid -p "/dev/$name" >/dev/null 2>&1
    [ $? = 2 ] && echo "/dev/$name"
  done
}
uuid=$(ours)
if [ -z "$uuid" ] && command -v mdadm >/dev/null; then
  mdadm --assemble --scan >/dev/null 2>&1
  uuid=$(ours)
fi
if [ -z "$uuid" ]; then
  found=$(blank)
  device=$(echo "$found" | head -n 1)
  count=$(echo "$found" | grep -c /)
  if [ "$count" = 0 ]; then say "not mounted: of $WANTED disks, none is empty"; exit 0; fi
  if [ "$count" -gt 1 ] && command -v mdadm >/dev/null; then
    device=/dev/md/platform
    # shellcheck disable=SC2086
    mdadm --create "$device" --run --level=0 --raid-devices="$count" $found || exit 1
  elif [ "$count" -gt 1 ]; then
    say "only the largest of $count is used: the machine has no mdadm"
  fi
  mkfs.ext4 -q -m 0 -L $LABEL "$device" || exit 1
  uuid=$(ours)
fi
mkdir -p "$DATA" && mount -o noatime "UUID=$uuid" "$DATA"
END
  chmod 700 "$ROOT/use-disks"
}

# Java and Hadoop fail for a user id without a name.
name_users() {
  UIDS=${PLATFORM_UIDS-1900000000-1900004095}
  [ "$(id -u)" = 0 ] && [ -n "$UIDS" ] || return 0
  grep -q "^spark-${UIDS%-*}:" /etc/passwd && return 0
  seq "${UIDS%-*}" "${UIDS#*-}" | sed 's|.*|spark-&:x:&:&::/nonexistent:/bin/sh|' >>/etc/passwd
}

# Exit codes 0 and 86 mean that the agent ended because the node is no longer needed.
write_loop() {
  cat >"$ROOT/run-agent" <<END
#!/bin/sh
umask 077
export SPARK_NODE_UIDS='$UIDS' NODE_EXTRA_CA_CERTS='${NODE_EXTRA_CA_CERTS:-}'
trap 'asked=1; kill -TERM "\$agent" 2>/dev/null' TERM INT HUP
'$ROOT/use-disks' 2>>'$ROOT/boot.log'
while [ -z "\$asked" ]; do
  '$RUNTIME/node/bin/node' '$ROOT/agent-$AGENT.js' '$CONFIG' >>'$NODE_DIR/agent.log' 2>&1 &
  agent=\$!
  wait "\$agent"; code=\$?
  while kill -0 "\$agent" 2>/dev/null; do wait "\$agent"; code=\$?; done
  case \$code in 0|86) exit 0 ;; esac
  [ -n "\$asked" ] || sleep 1
done
END
  chmod 700 "$ROOT/run-agent"
}

run() {
  if [ "${PLATFORM_SYSTEMD:-}" != no ] && [ "$(id -u)" = 0 ] && [ -d /run/systemd/system ]; then
    cat >/etc/systemd/system/platform-agent.service <<END
[Unit]
Description=Agent of a Spark node
After=network-online.target
Wants=network-online.target
StartLimitIntervalSec=0
[Service]
ExecStart=$ROOT/run-agent
Restart=on-failure
RestartSec=1
LimitNOFILE=65536
TasksMax=infinity
[Install]
WantedBy=multi-user.target
END
    systemctl daemon-reload
    systemctl enable platform-agent.service
    systemctl start platform-agent.service
    return
  fi
  if kill -0 "$(cat "$ROOT/run-agent.pid" 2>/dev/null || echo none)" 2>/dev/null; then return; fi
  nohup "$ROOT/run-agent" </dev/null >/dev/null 2>&1 &
  echo $! >"$ROOT/run-agent.pid"
}

# Removes the bootstrap token from the machine. It is useless once it is spent, but jobs should not find it.
forget_token() {
  waited=0
  until has_own_token; do
    [ "$waited" -lt 900 ] || return 0
    waited=$((waited + 1))
    sleep 1
  done
  configure
  for copy in /var/lib/cloud/instance/user-data.txt* /var/lib/cloud/instance/scripts/*; do
    [ -f "$copy" ] && [ "$(id -u)" = 0 ] && grep -q "$TOKEN" "$copy" && rm -f "$copy"
  done
  return 0
}

umask 022
mkdir -p "$RUNTIME" && cd "$ROOT" || exit 1
# A second run of this script waits until the first one has installed everything.
exec 9>"$ROOT/boot.lock"
if command -v flock >/dev/null; then flock 9; fi
exec 2>>"$ROOT/boot.log"
chmod 600 "$ROOT/boot.log"
trap report EXIT
trust
items
STEP='checking the installed programs'
need node bin/node
need java bin/java
need python bin/python3
need "spark-$SPARK" bin/spark-submit
STEP='downloading the agent'
[ -f "$ROOT/agent-$AGENT.js" ] || fetch "$API/agent/v1/bundle/$AGENT" "$ROOT/agent-$AGENT.js" "$AGENT" 60
STEP='starting the agent'
mkdir -p "$NODE_DIR/data" "$STATE" && chmod 711 "$NODE_DIR" && chmod 700 "$STATE"
STEP='preparing the disks'
write_disks
"$ROOT/use-disks" || fail 'The data disks of the node cannot be formatted or mounted.'
chmod 700 "$NODE_DIR/data"
STEP='starting the agent'
umask 077
configure
name_users
write_loop
exec 9>&-
run
trap - EXIT
forget_token </dev/null >/dev/null 2>&1 &
