#!/usr/bin/env bash
# Makes a virtual environment from a file of pins, once per content of that file, and prints the path of its python. Takes the file and the environment's
# folder, both relative to the project's; by default test/interop/requirements.txt and .venv-interop.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
requirements=$root/${1:-test/interop/requirements.txt}
venv=$root/${2:-.venv-interop}

find_python() {
  local name
  for name in "${PYTHON:-}" python3 python3.13 python3.12 python3.11; do
    if [ -n "$name" ] && "$name" -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null </dev/null; then
      command -v "$name"
      return
    fi
  done
  echo 'no Python of version 3.11 or newer on PATH; set PYTHON to one' >&2
  return 1
}

python=$(find_python)
stamp=$("$python" -c 'import hashlib, sys
print(hashlib.sha256(open(sys.argv[1], "rb").read() + sys.version.encode()).hexdigest())' "$requirements")

is_ready() { [ -x "$venv/bin/python" ] && [ "$(cat "$venv/stamp" 2>/dev/null)" = "$stamp" ]; }

if ! is_ready; then
  # Two suites started side by side make it once: the second waits for the first.
  mkdir -p "$root/.cache"
  exec 9>"$root/.cache/$(basename "$venv").lock"
  if command -v flock >/dev/null; then flock 9; fi
  if ! is_ready; then
    rm -rf "$venv"
    "$python" -m venv "$venv" >&2
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-input -r "$requirements" >&2 </dev/null
    printf '%s\n' "$stamp" >"$venv/stamp"
  fi
fi
printf '%s\n' "$venv/bin/python"
