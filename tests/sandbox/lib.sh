# What the sandbox's scripts share: its folder, its processes, its private MariaDB. Sourced by bash.
# shellcheck shell=bash
# A process is recorded in <folder>/pids/<name> as "PID START-TIME": together they name one process for
# ever, so that nothing is signalled but what the sandbox started. Each is the leader of its own session.

# shellcheck disable=SC2034 # for those who source this
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
umask 077

die() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

# absolute PATH: the path from the root, whether it exists or not.
absolute() { realpath -m -- "$1"; }

# ---------------------------------------------------------------------------- processes
# start_time PID: when the process began, in the kernel's ticks; fails if there is no such process.
start_time() {
    local stat
    stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 1
    stat=${stat##*) } # the name may hold spaces
    local fields
    read -r -a fields <<<"$stat"
    [ "${fields[0]}" != Z ] && printf '%s\n' "${fields[19]}"
}

# spawn FOLDER NAME COMMAND…: starts it in the background, in a session of its own, with its output in
# FOLDER/log/NAME.log, and records it.
spawn() {
    local folder=$1 name=$2 pid
    shift 2
    (
        for fd in /proc/self/fd/*; do # such as make's job server
            fd=${fd##*/}
            [ "$fd" -le 2 ] || eval "exec $fd>&-" 2>/dev/null || true
        done
        exec setsid "$@"
    ) </dev/null >>"$folder/log/$name.log" 2>&1 &
    pid=$!
    disown "$pid"
    printf '%s %s\n' "$pid" "$(start_time "$pid" || echo 0)" >"$folder/pids/$name"
}

# alive FOLDER NAME: whether the recorded process still runs.
alive() {
    local pid began
    read -r pid began 2>/dev/null <"$1/pids/$2" && [ "$(start_time "$pid")" = "$began" ]
}

# wait_until SECONDS COMMAND…: polls until it succeeds; 1 when the time is over.
wait_until() {
    local end=$((SECONDS + $1))
    shift
    until "$@"; do
        [ "$SECONDS" -lt "$end" ] || return 1
        sleep 0.05
    done
}

gone() { ! alive "$@"; }

# end FOLDER NAME [SIGNAL]: asks the recorded process to end, waits up to 15 s, then kills its whole
# session. Silent when it has ended already.
end() {
    local folder=$1 name=$2 signal=${3:-TERM} pid
    [ -e "$folder/pids/$name" ] || return 0
    if alive "$folder" "$name"; then
        read -r pid _ <"$folder/pids/$name"
        kill -"$signal" "$pid" 2>/dev/null || true
        wait_until 15 gone "$folder" "$name" || printf '%s: %s (%s) had to be killed\n' "${0##*/}" "$name" "$pid" >&2
        kill -KILL -- "-$pid" 2>/dev/null || true # its session: orphaned workers too
    fi
    rm -f "$folder/pids/$name"
}

# ---------------------------------------------------------------------------- folders and sockets
# socket_folder FOLDER: where FOLDER's Unix sockets go: itself, or a short one where the 107 bytes of a
# socket's address would not do.
socket_folder() {
    local folder=$1 short
    if [ ${#folder} -le 90 ]; then
        printf '%s\n' "$folder"
        return
    fi
    if [ ! -e "$folder/socket-folder" ]; then
        short=$(mktemp -d /tmp/muster-XXXXXX)
        printf '%s\n' "$short" >"$folder/socket-folder"
    fi
    cat "$folder/socket-folder"
}

# remove_sockets FOLDER: the short folder of socket_folder, if there is one.
remove_sockets() {
    local short
    [ -e "$1/socket-folder" ] || return 0
    short=$(cat "$1/socket-folder")
    case $short in /tmp/muster-??????) rm -rf -- "$short" ;; esac
    rm -f -- "$1/socket-folder"
}

# ---------------------------------------------------------------------------- MariaDB
# mariadb_install FOLDER [OPTION…]: makes FOLDER/data. Options are those of the server that will use it.
mariadb_install() {
    local folder=$1
    shift
    mkdir -p "$folder/log" "$folder/pids" "$folder/tmp"
    mariadb-install-db --no-defaults --user="$(id -un)" --auth-root-authentication-method=normal \
        --skip-test-db --skip-name-resolve --datadir="$folder/data" --tmpdir="$folder/tmp" "$@" \
        >"$folder/log/install-db.log" 2>&1 || {
        tail -20 "$folder/log/install-db.log" >&2
        die "mariadb-install-db failed"
    }
}

# mariadb_start FOLDER [OPTION…]: no network, no password, everything inside FOLDER.
mariadb_start() {
    local folder=$1
    shift
    spawn "$folder" mariadbd mariadbd --no-defaults --user="$(id -un)" --datadir="$folder/data" \
        --tmpdir="$folder/tmp" --socket="$(socket_folder "$folder")/mysql.sock" --skip-networking \
        --pid-file="$folder/tmp/mariadbd.pid" --character-set-server=utf8mb4 \
        --collation-server=utf8mb4_general_ci --max-allowed-packet=64M --max-connections=400 \
        --skip-name-resolve --performance-schema=OFF "$@"
}

mariadb_answers() {
    mariadb-admin --no-defaults --user=root --socket="$(socket_folder "$1")/mysql.sock" ping >/dev/null 2>&1
}

mariadb_settled() { mariadb_answers "$1" || gone "$1" mariadbd; }

# mariadb_wait FOLDER: until it answers; says why when it does not.
mariadb_wait() {
    wait_until 30 mariadb_settled "$1" && mariadb_answers "$1" && return
    tail -20 "$1/log/mariadbd.log" >&2
    die "MariaDB does not answer"
}
