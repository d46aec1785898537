#!/bin/sh
# examples/faithful.sh [TESSERA [FOLDER [STEPS]]]: learns to cluster in the plane, then clusters Old Faithful's eruptions.
#
# A model of two dimensions and two clusters is trained on random tasks (STEPS, 2000 when not given, in some seconds;
# it never sees the data), and clusters examples/data/faithful.csv beside Lloyd's algorithm. FOLDER keeps the run
# and a picture; it must not exist. TESSERA is the program, build/cli/tessera when it is not given.
#
# The tasks run from 0 to 1 in every dimension. So must the data: --scaling minmax. Without it both columns are divided by
# one number, as in the paper, and eruptions, of 3.5 minutes beside 53 of waiting, would fill a strip 0.07 wide.
set -eu
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
tessera=${1:-$here/../build/cli/tessera}
folder=${2:-}
steps=${3:-2000}
data=$here/data/faithful.csv
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
run=${folder:-$work/run}

"$tessera" train --d 2 --k 2 --n 128 --steps "$steps" --out "$run" --quiet
set -- "$data" --model "$run/best.safetensors" --scaling minmax --quiet --labels "$work/learned.csv"
[ -z "$folder" ] || set -- "$@" --plot "$folder/faithful.svg"
"$tessera" cluster "$@"
"$tessera" cluster "$data" -k 2 --scaling minmax --quiet --labels "$work/lloyd.csv"
paste -d, "$work/learned.csv" "$work/lloyd.csv" | awk -F, '
    NR > 1 { n++; same += $1 == $2 }
    END { printf "learned and Lloyd agree on %d of %d rows\n", (same > n - same ? same : n - same), n }'
