#!/usr/bin/env bash
# test.sh CMAKE BUILD_DIR: the tests of the Python package, installed as a wheel in BUILD_DIR.
set -euo pipefail

cmake=$1 build=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mkdir -p "$build/python"
"$here/venv.sh" "$cmake" "$build" "$build/python/venv"
cd "$here/tests"
exec "$build/python/venv/bin/python" -m pytest -q -p no:cacheprovider -c "$here/pyproject.toml" .
