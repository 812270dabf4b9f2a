# The sandbox's five services and how to start them: database server, mail sink, musterd, nginx, runner. Sourced by bash.
# shellcheck shell=bash
# FOLDER/settings holds the arguments of `start`, so that a single service can be started again.
# shellcheck source=tests/sandbox/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/sandbox/database.sh
. "$(dirname "${BASH_SOURCE[0]}")/database.sh"

SERVICES=(mariadbd mail musterd nginx runner) # in the order in which they start

# The bench uses the same: durable commits, and enough memory and log for a whole import. Data in memory has a smaller log,
# because the log takes all of its size there.
DATABASE_OPTIONS=(--innodb-flush-log-at-trx-commit=1 --innodb-buffer-pool-size=1G)
log_size() { if [ -n "${DATA_IN:-}" ]; then echo 128M; else echo 1G; fi; }
database_options() { printf '%s\n' "${DATABASE_OPTIONS[@]}" "--innodb-log-file-size=$(setting "$1" log_size)"; }

# setting FOLDER NAME
setting() {
    local name value
    while IFS='=' read -r name value; do
        [ "$name" != "$2" ] || printf '%s\n' "$value"
    done <"$1/settings"
}

start_service() {
    local folder=$1 name=$2 build options more
    build=$(setting "$folder" build)
    case $name in
    mariadbd)
        read -r -a more <<<"$(setting "$folder" mariadb)"
        mapfile -t options < <(database_options "$folder")
        database_start "$folder" "${options[@]}" "${more[@]}"
        ;;
    mail) spawn "$folder" mail "$ROOT/tests/sandbox/mail-sink" "$(setting "$folder" mail_port)" "$folder/mail" ;;
    musterd) spawn "$folder" musterd "$build/musterd" --config "$folder/muster.conf" ;;
    nginx) spawn "$folder" nginx nginx -p "$folder/" -c nginx/nginx.conf -e "$folder/log/nginx.error.log" ;;
    runner) spawn "$folder" runner "$ROOT/tests/sandbox/runner-loop" "$build/muster-run" "$folder/muster.conf" ;;
    *) die "unknown service \"$name\": use one of ${SERVICES[*]}" ;;
    esac
}

# service_pids FOLDER: {"mariadbd": 1, …}
service_pids() {
    local name pid pids=''
    for name in "${SERVICES[@]}"; do
        read -r pid _ 2>/dev/null <"$1/pids/$name" || pid=null
        pids+=", \"$name\": $pid"
    done
    printf '{%s}\n' "${pids#, }"
}

# api FOLDER PATH [CURL-OPTION…]: prints the body of a GET through nginx; fails on an error status.
api() {
    local folder=$1 path=$2
    shift 2
    curl --silent --fail --max-time 20 --cacert "$folder/ca.pem" "$@" "https://127.0.0.1:$(setting "$folder" port)$path"
}

# listens PORT: succeeds if a program listens there on the loopback address.
listens() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# free_port: prints an unused port, below those that the kernel uses for outgoing connections.
free_port() {
    local port
    for _ in {1..100}; do
        port=$((20000 + RANDOM % 12000))
        listens "$port" || { printf '%s\n' "$port" && return; }
    done
    die "no free port"
}

ready() { api "$1" /readyz >/dev/null 2>&1; }
