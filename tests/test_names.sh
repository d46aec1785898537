#!/bin/sh
# test_names.sh FLOAT_LIBRARY DOUBLE_LIBRARY NAMES LIBRARIES -- COMPILER FLAG...
# The two precisions have no name in common, so that a program compiled for one does not link with the other. NAMES is
# autograd/double_names.h, LIBRARIES are further float ones that it must know, FLAGs are what linking takes.
set -u
float=$1 double=$2 names=$3
shift 3
libraries=""
while [ "$1" != -- ]; do
    libraries="$libraries $1"
    shift
done
shift
command -v nm >/dev/null || {
    echo "skipped: names of the two precisions: no nm"
    exit 77
}
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
bad=0

names_of() { # LIBRARY...: the global names of the library
    nm -g --defined-only "$@" 2>/dev/null | sed -n 's/^[0-9a-f]* [A-Za-z] \(ts_[A-Za-z0-9_]*\)$/\1/p' | sort -u
}

for name in $(names_of "$double" | grep -v '_double$') $(names_of "$float" $libraries | grep '_double$'); do
    echo "$name: its precision is not told by its name" && bad=1
done
for name in $(names_of "$float" $libraries); do
    grep -q "^#define $name ${name}_double$" "$names" || { echo "$name is missing in double_names.h" && bad=1; }
done
[ $bad -eq 0 ] || echo "run .ci/write_double_names"

cat >"$folder/program.c" <<'END'
#include "ops.h"
int main(void) {
    ts_tape *tape = ts_tape_create(TS_RECORD);
    ts_real value = 3;
    ts_tensor *x = ts_leaf(tape, TS_SCALAR, &value, NULL);
    const int right = ts_mul(tape, x, x)->data[0] == 9;
    ts_tape_free(tape);
    return !right;
}
END
links() { # links LIBRARY FLAG...
    library=$1
    shift
    "$@" -std=c11 -I"$(dirname "$names")" -o "$folder/program" "$folder/program.c" "$library" $flags -lm \
        >"$folder/log" 2>&1
}
compiler="" flags=""
for word in "$@"; do
    case "$word" in
    -*) flags="$flags $word" ;;
    *) compiler="$compiler $word" ;;
    esac
done
links "$float" $compiler && "$folder/program" || { cat "$folder/log" && echo "float does not run" && bad=1; }
links "$double" $compiler -DTS_DOUBLE && "$folder/program" || { cat "$folder/log" && echo "double does not run" && bad=1; }
links "$double" $compiler && echo "float links with double" && bad=1
grep -q 'ts_tape_create' "$folder/log" || { cat "$folder/log" && bad=1; }
links "$float" $compiler -DTS_DOUBLE && echo "double links with float" && bad=1
grep -q 'ts_tape_create_double' "$folder/log" || { cat "$folder/log" && bad=1; }
exit $bad
