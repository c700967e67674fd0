#!/usr/bin/env bash
# Runs what is missing of a pipeline. For cron, which mails what a job prints: nothing is printed where nothing is wrong. Takes the pipeline's file and options
# of `tablectl catchup`. The exit code is that of tablectl.
set -uo pipefail

file=${1:?'usage: catchup.sh FILE [OPTION...]'}

# Two at once would do each other no harm, here or on two machines; with the lock the second one has nothing to do.
if command -v flock >/dev/null; then
  exec 9>"${LOCK:-${TMPDIR:-/tmp}/catchup-$(basename "$file").lock}"
  flock --nonblock 9 || exit 0
fi

told=$(tablectl catchup "$@" 2>&1)
code=$?
case $code in
  0) exit 0 ;;
  3) echo "Part of $file failed. The next turn runs what is missing, and only that." ;;
  1 | 4 | 7 | 130 | 137) echo "$file was not run. The next turn tries again." ;;
  2 | 6) echo "$file cannot run like this: a wrong command line (2), or a guard refused (6)." ;;
esac
printf '%s\n' "$told"
exit $code
