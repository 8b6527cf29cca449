# Installs the programs that a node needs. Programs that exist already, as in a prepared image, stay. Each program is a folder
# of $RUNTIME, with its version in a file beside it. The settings MIRROR and CA come before this file, calls of `item` after it.
ROOT=${PLATFORM_ROOT:-/opt/platform}
RUNTIME=$ROOT/runtime
STEP=preparing

fail() {
  printf '%s\n' "$1" >&2
  exit 1
}

# Adds CA to the certificate authorities of the system.
trust() {
  CA_FILE=
  [ -n "$CA" ] || return 0
  printf '%s\n' "$CA" >"$ROOT/authorities.pem"
  export NODE_EXTRA_CA_CERTS="$ROOT/authorities.pem"
  CA_FILE=$ROOT/all-authorities.pem
  for system in /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt /dev/null; do
    [ -r "$system" ] && break
  done
  cat "$system" "$ROOT/authorities.pem" >"$CA_FILE"
}

# Seconds without data after which a download counts as stalled.
STALL=${PLATFORM_STALL_SECONDS:-15}

# get URL FILE SECONDS: sets CONNECTED to the seconds until the connection was made, if curl reports them.
get() {
  CONNECTED=
  if command -v curl >/dev/null; then
    CONNECTED=$(curl -fsS --connect-timeout "$STALL" --speed-limit 1024 --speed-time "$STALL" --max-time "$3" \
      ${CA_FILE:+--cacert "$CA_FILE"} -w '%{time_connect}' -o "$2" "$1")
  elif command -v wget >/dev/null; then
    timeout "$3" wget -q -T "$STALL" -t 1 ${CA_FILE:+--ca-certificate="$CA_FILE"} -O "$2" "$1"
  else
    fail 'This machine has neither curl nor wget.'
  fi
}

# fetch URL FILE SHA256 TRIES: the file exists only once it is complete. A server that stalls is tried twice, so that the
# failure is reported within a minute.
fetch() {
  try=1
  hangs=0
  while :; do
    began=$(date +%s)
    if ! get "$1" "$2.part" 900; then
      problem="$1 cannot be downloaded"
      # A failure cannot be reported to an unreachable API, and the network may still come up.
      case "$1 $CONNECTED" in
        "${API:-none}/"*' 0.000000') ;;
        *) [ "$(($(date +%s) - began))" -lt "$STALL" ] || hangs=$((hangs + 1)) ;;
      esac
    elif [ "$(sha256sum "$2.part" | cut -d' ' -f1)" != "$3" ]; then
      problem="$1 does not have the checksum $3"
    else
      mv -f "$2.part" "$2"
      return 0
    fi
    rm -f "$2.part"
    [ "$hangs" -lt 2 ] || fail "$problem: the server does not respond, or stops in the middle."
    [ "$try" -lt "$4" ] || fail "$problem."
    try=$((try + 1))
    sleep "${PLATFORM_RETRY_SECONDS:-5}"
  done
}

# item NAME VERSION PATH SHA256: installs a gzipped tar archive with one top-level folder.
item() {
  STEP="installing $1 $2"
  if [ -e "$RUNTIME/$1" ] && [ "$(cat "$RUNTIME/$1.version" 2>/dev/null)" = "$2" ]; then return 0; fi
  rm -rf "$RUNTIME/$1.version" "$RUNTIME/$1" "$RUNTIME/$1.new"
  fetch "$MIRROR/$3" "$RUNTIME/$1.tgz" "$4" 5
  mkdir "$RUNTIME/$1.new"
  tar -xzf "$RUNTIME/$1.tgz" -C "$RUNTIME/$1.new" --strip-components=1 || fail "$MIRROR/$3 cannot be unpacked."
  mv "$RUNTIME/$1.new" "$RUNTIME/$1"
  rm -f "$RUNTIME/$1.tgz"
  printf '%s\n' "$2" >"$RUNTIME/$1.version"
}

# need NAME PROGRAM: fails if the program is not installed.
need() {
  [ -x "$RUNTIME/$1/$2" ] || fail "The machine has no $1: its image does not contain $1/$2, and RUNTIME_MANIFEST does not name it. Use a prepared image, or add $1 to the manifest."
}
