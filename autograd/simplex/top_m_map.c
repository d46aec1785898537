/* p_i = 1/m for the m largest scores, 0 elsewhere, m = max(1, n - floor(F n)), F the trimmed share;  ds = 0
 *
 * n counts the entries that are not excluded. Of equal scores at the border those with the lowest indices are kept.
 * Nothing is sorted or copied: the m-th largest score is found digit by digit, in at most 16 passes. */
#include <string.h>

#include "row.h"

enum { KEY_BITS = 64, DIGIT_BITS = 4, DIGITS = 1 << DIGIT_BITS };

/* How many of n entries are kept. F n within 1e-9 n of an integer counts as that integer: in double .29 x 100 is
 * 28.999999999999996 where 29 is meant. */
static int64_t number_kept(int64_t n, double share) {
    const double trimmed = share * (double)n, whole = round(trimmed);
    const bool is_whole = fabs(trimmed - whole) <= 1e-9 * (double)n;
    const int64_t kept = n - (int64_t)(is_whole ? whole : floor(trimmed));
    return kept < 1 ? 1 : kept;
}

/* Whether the entry is not excluded; entries of +inf exclude all others. */
static bool counts(double s, double max) {
    return max == INFINITY ? s == max : s != -INFINITY;
}

/* An integer that is ordered as the score is; -0 counts as 0. */
static uint64_t key_of(double s) {
    const uint64_t sign = UINT64_C(1) << (KEY_BITS - 1);
    uint64_t bits = 0;
    const double value = s == 0 ? 0 : s;
    memcpy(&bits, &value, sizeof bits);
    return bits & sign ? ~bits : bits | sign;
}

/* Scores whose key >> shift exceeds `prefix` are kept, and so are the first `wanted` of those where it is equal. */
typedef struct border {
    uint64_t prefix;
    int shift;
    int64_t wanted;
} border;

static border find_border(int64_t n, const double *s, double max, int64_t kept) {
    border b = {.prefix = 0, .shift = KEY_BITS, .wanted = kept};
    int64_t equal = 0; /* entries equal to the prefix; if all of them are wanted, no further digit matters */
    do {
        int64_t count[DIGITS] = {0};
        b.shift -= DIGIT_BITS;
        for (int64_t i = 0; i < n; i++) {
            const uint64_t key = key_of(s[i]) >> b.shift;
            if (counts(s[i], max) && key >> DIGIT_BITS == b.prefix) count[key % DIGITS]++;
        }
        uint64_t digit = DIGITS - 1;
        for (; count[digit] < b.wanted; digit--) b.wanted -= count[digit];
        equal = count[digit];
        b.prefix = b.prefix << DIGIT_BITS | digit;
    } while (b.shift > 0 && b.wanted < equal);
    return b;
}

static double forward(const ts_simplex_row *row, const double *s, double *w) {
    const double max = ts_row_max(row->n, s);
    if (ts_row_is_undefined(max)) return ts_row_undefined(row->n, max, w);
    int64_t counted = 0;
    for (int64_t i = 0; i < row->n; i++) counted += counts(s[i], max);
    const int64_t kept = number_kept(counted, row->parameter);
    border b = find_border(row->n, s, max, kept);
    for (int64_t i = 0; i < row->n; i++) {
        const uint64_t key = key_of(s[i]) >> b.shift;
        const bool at_border = counts(s[i], max) && key == b.prefix;
        w[i] = counts(s[i], max) && (key > b.prefix || (at_border && b.wanted > 0)) ? 1 : 0;
        b.wanted -= at_border;
    }
    return (double)kept;
}

static bool share_ok(double share) {
    return share >= 0 && share < 1;
}

const ts_simplex ts_top_m_map = {
    .name = "top-m",
    .parameter = "F",
    .parameter_rule = "the trimmed share F must be >= 0 and < 1",
    .parameter_ok = share_ok,
    .scale_invariant = true,
    .forward = forward,
};
