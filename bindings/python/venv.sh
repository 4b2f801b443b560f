#!/usr/bin/env bash
# venv.sh CMAKE BUILD_DIR VENV
# Makes the virtual environment VENV, with the package tutti built against the library of BUILD_DIR,
# and what its tests need. Fast if nothing has changed since. Ends with status 77 if pip cannot get
# these.
set -euo pipefail

cmake=$1 build=$2 venv=$3
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
prefix=$build/python/prefix

# These would have pip install elsewhere, or Python find other packages.
unset PIP_USER PIP_TARGET PIP_PREFIX PYTHONHOME PYTHONPATH

install() {
  "$venv/bin/pip" install -q --disable-pip-version-check "$@"
}

if [[ ! -x $venv/bin/pip ]]; then
  python3 -m venv "$venv" || {
    echo "venv.sh: no virtual environment: install python3-venv and python3-dev" >&2
    exit 1
  }
fi
"$cmake" --install "$build" --prefix "$prefix" >"$build/python/install.log" ||
  { cat "$build/python/install.log" >&2; exit 1; }
if ! "$venv/bin/python" -c 'import nanobind, nanobind_backend, scikit_build_core, numpy, pytest, pytest_asyncio' \
  2>/dev/null; then
  install 'nanobind>=3.1,<4' 'nanobind-backend>=1.0,<2' 'scikit-build-core>=0.11' numpy pytest \
    pytest-asyncio || {
    if "$venv/bin/pip" download -q --no-deps -d "$build/python/download" 'nanobind>=3.1,<4'; then
      exit 1 # so it is not for the want of a network
    fi
    # As with the guest's kernel: what this host cannot get is said, and is no fault of the tree.
    echo "SKIPPED: no Python package: pip could not download what it is built and tested with, see its \
message. Without a network, set PIP_FIND_LINKS to a folder with the wheels, and PIP_NO_INDEX=1." >&2
    exit 77
  }
fi
install --no-deps --no-build-isolation --force-reinstall "$here" \
  -C "build-dir=$build/python/{wheel_tag}" -C "cmake.define.CMAKE_PREFIX_PATH=$prefix" \
  -C cmake.define.TUTTI_WERROR=ON
