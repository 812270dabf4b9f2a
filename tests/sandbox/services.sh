# The sandbox's four services and how each is started: MariaDB, musterd, nginx, the runner. Sourced by bash.
# shellcheck shell=bash
# FOLDER/settings holds what `start` was called with, so that a service can be started again by itself.
# shellcheck source=tests/sandbox/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

SERVICES=(mariadbd musterd nginx runner) # in the order in which they start

# The bench compares with these: durable commits, and room for a whole import in memory and log.
MARIADB_OPTIONS=(--innodb-flush-log-at-trx-commit=1 --innodb-buffer-pool-size=1G --innodb-log-file-size=1G)

# setting FOLDER NAME
setting() { sed -n "s/^$2=//p" "$1/settings"; }

start_service() {
    local folder=$1 name=$2 build
    build=$(setting "$folder" build)
    case $name in
    mariadbd) mariadb_start "$folder" "${MARIADB_OPTIONS[@]}" ;;
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

ready() { api "$1" /readyz >/dev/null 2>&1; }
