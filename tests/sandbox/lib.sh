# Shared by the sandbox's scripts: its folder, its processes, its private MariaDB. Sourced by bash.
# shellcheck shell=bash
# <folder>/pids/<name> records a process as "PID START-TIME". The two identify one process even if the PID is used again, so
# the scripts signal only processes of the sandbox. Each process is the leader of its own session.

# shellcheck disable=SC2034 # used by the scripts that source this
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
umask 077

die() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

# absolute PATH: prints the absolute path. The file need not exist.
absolute() { realpath -m -- "$1"; }

# ---------------------------------------------------------------------------- processes
# alive and wait_until start no process: the tests stop and start services often.

# start_time VARIABLE PID: sets the variable to when the process started, in kernel ticks; 0 and a failure if it does not exist.
start_time() {
    local stat fields
    printf -v "$1" 0
    { read -r stat <"/proc/$2/stat"; } 2>/dev/null || return 1
    read -r -a fields <<<"${stat##*) }" # the name may contain spaces
    [ "${fields[0]}" != Z ] && printf -v "$1" '%s' "${fields[19]}"
}

# spawn FOLDER NAME COMMAND…: starts it in the background in its own session, with its output in FOLDER/log/NAME.log, and
# records it.
spawn() {
    local folder=$1 name=$2 pid began
    shift 2
    (
        for fd in /proc/self/fd/*; do # such as make's jobserver
            fd=${fd##*/}
            [ "$fd" -le 2 ] || eval "exec $fd>&-" 2>/dev/null || true
        done
        exec setsid "$@"
    ) </dev/null >>"$folder/log/$name.log" 2>&1 &
    pid=$!
    disown "$pid"
    start_time began "$pid" || true
    printf '%s %s\n' "$pid" "$began" >"$folder/pids/$name"
}

# alive FOLDER NAME: whether the recorded process still runs.
alive() {
    local pid began now
    read -r pid began 2>/dev/null <"$1/pids/$2" && start_time now "$pid" && [ "$now" = "$began" ]
}

exec {silence}<> <(:) # nothing is ever written to this pipe: a read from it is a pause

# wait_until SECONDS COMMAND…: polls until it succeeds; returns 1 after that time.
wait_until() {
    local end=$((SECONDS + $1))
    shift
    until "$@"; do
        [ "$SECONDS" -lt "$end" ] || return 1
        read -r -t 0.05 -u "$silence" || true
    done
}

gone() { ! alive "$@"; }

# children_of PID: prints "PID START-TIME" of each child process.
children_of() {
    local pid began
    for pid in $(pgrep -P "$1"); do
        start_time began "$pid" || true
        printf '%s %s\n' "$pid" "$began"
    done
}

# no_group PID: whether no process of that group runs. One that has ended does not, even if no parent has awaited it.
no_group() {
    local file stat fields
    kill -0 -- "-$1" 2>/dev/null || return 0
    for file in /proc/[0-9]*/stat; do
        { read -r stat <"$file"; } 2>/dev/null || continue
        read -r -a fields <<<"${stat##*) }"
        [ "${fields[2]:-}" != "$1" ] || [ "${fields[0]}" = Z ] || return 1
    done
}

# none_left PID CHILDREN: whether no process of the group runs, and none of the lines of children_of.
none_left() {
    local child began now
    no_group "$1" || return 1
    while read -r child began; do
        [ -z "$child" ] || ! start_time now "$child" || [ "$now" != "$began" ] || return 1
    done <<<"$2"
}

# end FOLDER NAME [SIGNAL]: signals the recorded process, waits up to 15 s, then kills its whole session and its children,
# which may have sessions of their own, and waits until they have closed their sockets. Prints nothing if it has ended already.
end() {
    local folder=$1 name=$2 signal=${3:-TERM} pid children child began now
    [ -e "$folder/pids/$name" ] || return 0
    if alive "$folder" "$name"; then
        read -r pid _ <"$folder/pids/$name"
        children=$(children_of "$pid")
        kill -"$signal" "$pid" 2>/dev/null || true
        wait_until 15 gone "$folder" "$name" || printf '%s: %s (%s) had to be killed\n' "${0##*/}" "$name" "$pid" >&2
        kill -KILL -- "-$pid" 2>/dev/null || true # the session includes orphaned workers
        while read -r child began; do
            if [ -n "$child" ] && start_time now "$child" && [ "$now" = "$began" ]; then
                kill -KILL "$child" 2>/dev/null || true
            fi
        done <<<"$children"
        wait_until 15 none_left "$pid" "$children" || printf '%s: a process of %s (%s) still runs\n' "${0##*/}" "$name" "$pid" >&2
    fi
    rm -f "$folder/pids/$name"
}

# ---------------------------------------------------------------------------- folders and sockets
# socket_folder FOLDER: prints the folder for FOLDER's Unix sockets: FOLDER itself, or a short one if the path would exceed the
# 107 bytes of a socket address.
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

# remove_sockets FOLDER: removes the short folder of socket_folder, if it exists.
remove_sockets() {
    local short
    [ -e "$1/socket-folder" ] || return 0
    short=$(cat "$1/socket-folder")
    case $short in /tmp/muster-??????) rm -rf -- "$short" ;; esac
    rm -f -- "$1/socket-folder"
}

# ---------------------------------------------------------------------------- data in memory
# make_data_folder FOLDER: creates FOLDER/data. With DATA_IN, a path to an existing folder, the data is in a new folder there,
# and FOLDER/data is a link to it.
make_data_folder() {
    local folder=$1
    if [ -z "${DATA_IN:-}" ]; then
        mkdir -p "$folder/data"
        return
    fi
    mktemp -d "$DATA_IN/muster-data-XXXXXX" >"$folder/data-folder"
    ln -s "$(cat "$folder/data-folder")" "$folder/data"
}

# remove_data FOLDER: removes the folder that make_data_folder created elsewhere, if there is one.
remove_data() {
    local elsewhere
    [ -e "$1/data-folder" ] || return 0
    elsewhere=$(cat "$1/data-folder")
    case $elsewhere in */muster-data-??????) rm -rf -- "$elsewhere" ;; esac
    rm -f -- "$1/data-folder"
    [ ! -L "$1/data" ] || rm -f -- "$1/data"
}

# ---------------------------------------------------------------------------- MariaDB
# mariadb_install FOLDER [OPTION…]: creates FOLDER/data. Pass the options of the server that will use it.
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

# mariadb_start FOLDER [OPTION…]: starts it without network and password, with all files in FOLDER.
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

# mariadb_wait FOLDER: waits until it answers; prints its log if it does not.
mariadb_wait() {
    wait_until 30 mariadb_settled "$1" && mariadb_answers "$1" && return
    tail -20 "$1/log/mariadbd.log" >&2
    die "MariaDB does not answer"
}
