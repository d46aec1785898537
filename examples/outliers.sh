#!/bin/sh
# examples/outliers.sh [TESSERA [FOLDER]]: three clusters and 10 % gross outliers; which algorithm finds the clusters?
#
# TESSERA is the program, build/cli/tessera when it is not given; with FOLDER pictures of the results are drawn into it
# (gnuplot). The data, examples/data/outliers.csv, are 270 rows around three planted centres in [0,1]^2, deviation 0.06,
# and 30 rows anywhere in [-0.5,3]^2, labelled "outlier". They were made once, by this awk program, which counts on
# nothing but exact double arithmetic:
#
#     function u() { s = s * 16807 % 2147483647; return s / 2147483647 }
#     function g(  i, t) { t = -6; for (i = 0; i < 12; i++) t += u(); return t }
#     BEGIN {
#       s = 2026; split(".15 .85 .45", cx, " "); split(".15 .25 .85", cy, " ")
#       print "x,y,cluster"
#       for (i = 0; i < 300; i++) {
#         j = i % 3 + 1
#         if (i % 10 == 9) { x = -.5 + 3.5 * u(); y = -.5 + 3.5 * u(); name = "outlier" }
#         else { x = cx[j] + .06 * g(); y = cy[j] + .06 * g(); name = j - 1 }
#         printf "%.4f,%.4f,%s\n", x, y, name
#       }
#     }
set -eu
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
tessera=${1:-$here/../build/cli/tessera}
folder=${2:-}
data=$here/data/outliers.csv
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

run() { # run NAME OPTIONS...: clusters, and says how well the planted centres were found
    name=$1
    shift
    [ -z "$folder" ] || set -- "$@" --plot "$folder/outliers-$name.svg"
    "$tessera" cluster "$data" -k 3 --labels-column cluster --restarts 20 --quiet "$@" --centers "$work/centers.csv" \
        >"$work/report.txt"
    awk -F, -v name="$name" '
        BEGIN { split(".15 .85 .45", px, " "); split(".15 .25 .85", py, " ") }
        NR > 1 { n++; x[n] = $1; y[n] = $2 }
        END {
            for (j = 1; j <= 3; j++) {
                near = 1e9
                for (i = 1; i <= n; i++) {
                    d = sqrt((x[i] - px[j]) ^ 2 + (y[i] - py[j]) ^ 2)
                    if (d < near) near = d
                }
                if (near > worst) worst = near
            }
            printf "%-14s the farthest planted centre is %.3f from the nearest one found\n", name, worst
        }' "$work/centers.csv"
}

run lloyd
run trimmed --algorithm trimmed
run trimmed-share --algorithm trimmed --trim .15
run robust --algorithm robust
