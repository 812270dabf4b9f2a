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
