# The sandbox's five services and how each is started: the database server, a mail sink, musterd, nginx, the runner. Sourced by bash.
# shellcheck shell=bash
# FOLDER/settings holds what `start` was called with, so that a service can be started again by itself.
# shellcheck source=tests/sandbox/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/sandbox/database.sh
. "$(dirname "${BASH_SOURCE[0]}")/database.sh"

SERVICES=(mariadbd mail musterd nginx runner) # in the order in which they start; MariaDB comes first

# The bench compares with these: durable commits, and room for a whole import in memory and log.
DATABASE_OPTIONS=(--innodb-flush-log-at-trx-commit=1 --innodb-buffer-pool-size=1G --innodb-log-file-size=1G)

# setting FOLDER NAME
setting() { sed -n "s/^$2=//p" "$1/settings"; }

start_service() {
    local folder=$1 name=$2 build more
    build=$(setting "$folder" build)
    case $name in
    mariadbd)
        read -r -a more <<<"$(setting "$folder" mariadb)"
        database_start "$folder" "${DATABASE_OPTIONS[@]}" "${more[@]}"
        ;;
    mail) spawn "$folder" mail "$ROOT/tests/sandbox/mail-sink" "$(setting "$folder" mail_port)" "$folder/mail" ;;
    musterd) spawn "$folder" musterd "$build/musterd" --config "$folder/muster.conf" ;;
    nginx) spawn "$folder" nginx nginx -p "$folder/" -c nginx/nginx.conf -e "$folder/log/nginx.error.log" ;;
    runner) spawn "$folder" runner "$ROOT/tests/sandbox/runner-loop" "$build/muster-run" "$folder/muster.conf" ;;
    *) die "no such service: $name (there are ${SERVICES[*]})" ;;
    esac
}

# service_pids FOLDER: {"mariadbd": 1, …}
service_pids() {
    local name pid
    for name in "${SERVICES[@]}"; do
        read -r pid _ 2>/dev/null <"$1/pids/$name" || pid=null
        printf '{"%s": %s}\n' "$name" "$pid"
    done | jq -s add
}

# api FOLDER PATH [CURL-OPTION…]: the body of a GET through nginx; fails on an error status.
api() {
    local folder=$1 path=$2
    shift 2
    curl --silent --fail --max-time 20 --cacert "$folder/ca.pem" "$@" "https://127.0.0.1:$(setting "$folder" port)$path"
}

# listens PORT: whether somebody answers there, on the loopback.
listens() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# free_port: one on which nobody listens, below those that the kernel gives to outgoing connections.
free_port() {
    local port
    for _ in {1..100}; do
        port=$((20000 + RANDOM % 12000))
        listens "$port" || { printf '%s\n' "$port" && return; }
    done
    die "no free port"
}

ready() { api "$1" /readyz >/dev/null 2>&1; }
