#!/usr/bin/env bash
# Installs, with apt, the system packages that the lab lacks; elsewhere it says which programs are missing.
# --browser: what the report is tested in, too. --fuzzer: what the runtime is fuzzed with, too.
set -euo pipefail

# program or file that proves the package : Debian package
wanted=(
  "arm-none-eabi-g++:gcc-arm-none-eabi"
  "/usr/lib/arm-none-eabi/include/newlib.h|/usr/include/newlib/newlib.h:libnewlib-arm-none-eabi"
  "/usr/include/newlib/c++|/usr/lib/arm-none-eabi/include/c++:libstdc++-arm-none-eabi-newlib"
  "qemu-system-arm:qemu-system-arm"
  "/usr/bin/flatc:flatbuffers-compiler"
  "/usr/include/flatbuffers/flatbuffers.h:libflatbuffers-dev"
  "cmake:cmake"
  "ninja:ninja-build"
  "ccache:ccache"
  "g++:g++"
  "git:git"
)

present() {
  local place
  IFS='|' read -ra places <<<"$1"
  for place in "${places[@]}"; do
    case "$place" in
      /*) [ -e "$place" ] && return 0 ;;
      *) command -v "$place" >/dev/null && return 0 ;;
    esac
  done
  return 1
}

missing=()
for entry in "${wanted[@]}"; do
  present "${entry%%:*}" || missing+=("${entry##*:}")
done
python3 -c 'import venv, ensurepip' 2>/dev/null || missing+=("python3-venv")
if ! python3 -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 13))'; then
  echo "setup: python3 is $(python3 --version 2>&1); the lab needs 3.11 or 3.12" >&2
  exit 3
fi
available() { apt-cache show "$1" 2>/dev/null | grep -q '^Filename:'; }
# for tests of the report alone; a distribution without such a package does without
if [[ " $* " == *" --browser "* ]] && ! command -v chromium >/dev/null && available chromium; then
  missing+=("chromium")
fi
# Clang brings libFuzzer in a package of the same version: 14 on Debian 12, 18 on Ubuntu 24.04
if [[ " $* " == *" --fuzzer "* ]] && ! compgen -c clang++- >/dev/null; then
  for version in 14 15 16 18 19; do
    if available "libclang-rt-$version-dev"; then
      missing+=("clang-$version" "libclang-rt-$version-dev")
      break
    fi
  done
fi
[ ${#missing[@]} -eq 0 ] && exit 0

if ! command -v apt-get >/dev/null; then
  echo "setup: this system has no apt. Install what these Debian packages hold, then run again:" >&2
  printf '  %s\n' "${missing[@]}" >&2
  exit 3
fi
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "setup: not root and no sudo. Have an administrator run: apt-get install ${missing[*]}" >&2
    exit 3
  fi
  as_root=(sudo)
fi
echo "setup: installing ${missing[*]}"
"${as_root[@]}" apt-get update -qq
DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
