# The temporary database server of tests and sandbox: MariaDB, or MySQL if MYSQLD names its server. Sourced by bash after lib.sh.
# shellcheck shell=bash
# MYSQLD is `mysqld`, a path to it, or a script that passes its arguments to it (tests/sandbox/get-mysql creates one).
# FOLDER/server records which server created the data, so that a restart uses the same one. The process is recorded as
# `mariadbd` in both cases.

# server_of FOLDER: prints `mariadbd`, or the value of MYSQLD when the data was created.
server_of() { cat "$1/server"; }

# server_options FOLDER OPTION…: prints the options in that server's spelling, one per line.
server_options() {
    local folder=$1
    shift
    if [ "$(server_of "$folder")" = mariadbd ]; then
        printf '%s\n' "$@"
    else
        printf '%s\n' "${@/#--innodb-log-file-size=/--innodb-redo-log-capacity=}"
    fi
}

# database_install FOLDER OPTION…: creates FOLDER/data, in DATA_IN if that is set (lib.sh). Pass the options of the server that will use it, in MariaDB's spelling.
database_install() {
    local folder=$1
    shift
    mkdir -p "$folder/log" "$folder/pids" "$folder/tmp"
    make_data_folder "$folder"
    printf '%s\n' "${MYSQLD:-mariadbd}" >"$folder/server"
    if [ -n "${MYSQLD:-}" ]; then
        mysql_install "$folder" "$@"
    else
        mariadb_install "$folder" "$@"
    fi
}

# database_start FOLDER OPTION…
database_start() {
    if [ "$(server_of "$1")" = mariadbd ]; then
        mariadb_start "$@"
    else
        mysql_start "$@"
    fi
}

mysql_install() {
    local folder=$1 options
    shift
    mapfile -t options < <(server_options "$folder" "$@")
    "$(server_of "$folder")" --no-defaults --initialize-insecure --user="$(id -un)" --datadir="$folder/data" \
        --tmpdir="$folder/tmp" "${options[@]}" >"$folder/log/install-db.log" 2>&1 || {
        tail -20 "$folder/log/install-db.log" >&2
        die "mysqld --initialize-insecure failed"
    }
}

# mysql_start FOLDER OPTION…: like mariadb_start, with the same settings where both have them. The binary log is on, MySQL's default.
mysql_start() {
    local folder=$1 options
    shift
    mapfile -t options < <(server_options "$folder" "$@")
    spawn "$folder" mariadbd "$(server_of "$folder")" --no-defaults --user="$(id -un)" --datadir="$folder/data" \
        --tmpdir="$folder/tmp" --socket="$(socket_folder "$folder")/mysql.sock" --skip-networking --mysqlx=OFF \
        --secure-file-priv= --plugin-load-add=auth_socket.so \
        --pid-file="$folder/tmp/mariadbd.pid" --character-set-server=utf8mb4 \
        --collation-server=utf8mb4_general_ci --max-allowed-packet=64M --max-connections=400 \
        --skip-name-resolve "${options[@]}"
}
