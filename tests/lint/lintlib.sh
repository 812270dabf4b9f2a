# Shared by the lints in bash. Sourced; changes to the tree that is checked.
# shellcheck shell=bash
# LINT_ROOT names another tree, as for the lints in Python (lintlib.py).
cd "${LINT_ROOT:-$(dirname "${BASH_SOURCE[0]}")/../..}" || exit 2
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin

# tree_files: prints all files that git tracks or does not ignore; without git, all files outside of build/.
tree_files() {
    if [ -e .git ]; then
        git ls-files -co --exclude-standard
    else
        find . -path ./build -prune -o -type f -printf '%P\n'
    fi | sort | while IFS= read -r file; do [ ! -f "$file" ] || printf '%s\n' "$file"; done
}

# printed_by_musterd FILE OPTION: compares the committed file with the program's output for that option; ends the lint.
printed_by_musterd() {
    local committed=$1 program=${BUILD:-build}/musterd difference line
    [ -x "$program" ] || { echo "$program:1: not built: run make" && exit 1; }
    [ -e "$committed" ] || { echo "$committed:1: missing: run $program $2 > $committed" && exit 1; }
    difference=$(diff -u "$committed" <("$program" "$2")) && exit 0
    line=$(sed -nE '0,/^@@ /s/^@@ -([0-9]+).*/\1/p' <<<"$difference")
    echo "$committed:${line:-1}: out of date: run $program $2 > $committed"
    head -n 20 <<<"$difference"
    exit 1
}
