#!/bin/sh
# Installs programs that tests start, by the names of Debian's packages, unless they are there.
# usage: tools/install_programs.sh PACKAGE ...
set -eu
missing=
for package in "$@"; do
  dpkg-query --show --showformat '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing="$missing $package"
done
[ -n "$missing" ] || exit 0
as=
[ "$(id -u)" = 0 ] || as="sudo --non-interactive"
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086 # one word for each package
if ! { $as apt-get update -qq && $as apt-get install -qq --yes --no-install-recommends $missing; } >&2; then
  echo "install these packages first:$missing" >&2
  exit 1
fi
