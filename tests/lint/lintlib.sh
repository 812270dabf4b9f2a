# What the lints that are written in bash share. Sourced; goes to the tree that is looked at.
# shellcheck shell=bash
# LINT_ROOT names another tree than this one, as for the lints in Python (lintlib.py).
cd "${LINT_ROOT:-$(dirname "${BASH_SOURCE[0]}")/../..}" || exit 2
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin

# tree_files: all files that are tracked or would be; without git, all but the build's.
tree_files() {
    if [ -e .git ]; then
        git ls-files -co --exclude-standard
    else
        find . -path ./build -prune -o -type f -printf '%P\n'
    fi | sort | while IFS= read -r file; do [ ! -f "$file" ] || printf '%s\n' "$file"; done
}

# printed_by_musterd FILE OPTION: the committed file is what the program prints with that option; ends the lint.
printed_by_musterd() {
    local committed=$1 program=${BUILD:-build}/musterd difference line
    [ -x "$program" ] || { echo "$program:1: not built: make" && exit 1; }
    [ -e "$committed" ] || { echo "$committed:1: missing: $program $2 > $committed" && exit 1; }
    difference=$(diff -u "$committed" <("$program" "$2")) && exit 0
    line=$(sed -nE '0,/^@@ /s/^@@ -([0-9]+).*/\1/p' <<<"$difference")
    echo "$committed:${line:-1}: stale: $program $2 > $committed"
    head -n 20 <<<"$difference"
    exit 1
}
