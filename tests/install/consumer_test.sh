#!/usr/bin/env bash
# consumer_test.sh CMAKE BUILD_DIR CXX
# Installs the build into a scratch folder, then builds and runs a consumer four ways: with
# find_package and with pkg-config, each against the shared and the static library. Both libraries
# come without the simulator, the checker, the doctor and what tests use.
set -euo pipefail

cmake=$1 build=$2 cxx=$3
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

"$cmake" --install "$build" --prefix "$scratch/installed" >"$scratch/install.log" ||
  { cat "$scratch/install.log"; exit 1; }
# Moved, to prove that nothing installed remembers where it was first.
mv "$scratch/installed" "$scratch/prefix"
prefix=$scratch/prefix
pc=$(find "$prefix" -name tutti.pc)
libdir=$(dirname "$(dirname "$pc")")
export PKG_CONFIG_PATH=${pc%/*}
version=$(pkg-config --modversion tutti)

expect_version() {
  local said
  said=$("$@")
  if [[ $said != "$version" ]]; then
    echo "$1 says version '$said', the package says '$version'" >&2
    exit 1
  fi
  echo "${1##*/}: $said"
}

installed=$(cd "$libdir" && echo *tutti*)
# The folder is that of the plug-in for idlc, where that is installed.
if [[ ${installed% tutti} != \
  "libtutti.a libtutti.so libtutti.so.${version%.*} libtutti.so.$version libtutti_client.a" ]]; then
  echo "installed are the libraries $installed" >&2
  exit 1
fi
# RDMA and libfabric are loaded on demand: no program needs them to be installed.
if readelf -d "$libdir/libtutti.so" | grep -E 'NEEDED.*(ibverbs|rdmacm|fabric)' >&2; then
  echo "libtutti.so is linked with what it should load" >&2
  exit 1
fi
for library in libtutti.a libtutti.so; do
  nm -C "$libdir/$library" >"$scratch/symbols"
  # If not even the node is found, the search finds nothing.
  if ! grep -q 'tutti::Node::start' "$scratch/symbols"; then
    echo "$library shows no symbol of the node" >&2
    exit 1
  fi
  if grep -E -m 5 'tutti::(history|sim|doctor|testing)::' "$scratch/symbols" >&2; then
    echo "$library holds what belongs to tutti_tools or to the tests" >&2
    exit 1
  fi
done

"$cmake" -S "$here/consumer" -B "$scratch/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_PREFIX_PATH="$prefix"
"$cmake" --build "$scratch/build" -j 1
expect_version "$scratch/build/consumer_shared"
expect_version "$scratch/build/consumer_static"
expect_version "$scratch/build/consumer_c"

read -ra cflags <<<"$(pkg-config --cflags tutti)"
read -ra libs <<<"$(pkg-config --libs tutti)"
"$cxx" -std=c++23 "${cflags[@]}" "$here/consumer/main.cpp" "${libs[@]}" -o "$scratch/pc_shared"
LD_LIBRARY_PATH=$libdir expect_version "$scratch/pc_shared"

cc -std=c99 -Wall -Wextra -Wpedantic -Werror "${cflags[@]}" "$here/consumer/main.c" "${libs[@]}" \
  -o "$scratch/pc_c"
LD_LIBRARY_PATH=$libdir expect_version "$scratch/pc_c"

read -ra libs <<<"$(pkg-config --static --libs tutti)"
# Ours is taken from the archive, what it needs of the system is not.
"$cxx" -std=c++23 "${cflags[@]}" "$here/consumer/main.cpp" "${libs[@]/#-ltutti/-l:libtutti.a}" \
  -o "$scratch/pc_static"
expect_version "$scratch/pc_static"
