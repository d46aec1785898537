/* fast_attention_map.h: turns scores into weights, and dP into dS, for one row map. Included once for each map, with
 * MAP its name, after the definition of these functions on vectors of rows:
 *
 *     MAP_statistic(s, step, keys, before)  a row's statistic after a tile, given the statistic before it
 *     MAP_shrink(before, now)               the factor from weights under the statistic `before` to those under `now`
 *     MAP_weight(s, statistic)              a weight, not yet divided by the row's sum
 *     MAP_slope(s, weight, statistic, d)    dS from d = dP - mean, which is already divided by the row's sum
 */
#define JOIN_AGAIN(x, y) x##_##y
#define JOIN(x, y) JOIN_AGAIN(x, y)
#define OF_MAP(name) JOIN(MAP, name)

/* Scores become weights, or 0 where dropped; returns the sum of all weights, with dropped ones. `drops` is a
 * compile-time constant. */
SIMD_INLINE vec OF_MAP(weigh_rows)(const ts_fast_task *task, ts_real *s, int64_t step, int64_t keys, vec statistic,
                                   vec_word row, const uint32_t *columns, const bool drops) {
    vec sum = {0};
    for (int64_t j = 0; j < keys; j++, s += step) {
        vec weight = OF_MAP(weight)(vec_load(s), statistic);
        sum += weight;
        if (drops) weight = vec_where_at_least(draws(row, columns[j]), task->key.threshold, weight);
        vec_store(s, weight);
    }
    return sum;
}

/* Computes the weights of a tile, and rescales the sums so far to the new statistic. */
static void OF_MAP(weigh)(const ts_fast_task *task, const block *b, const workspace *w, const key_tile *t) {
    for (int64_t v = 0; v < b->vecs; v++) {
        ts_real *s = t->scores + v * LANES, *statistic = w->buffer[STATISTICS] + v * LANES,
                *sum = w->buffer[SUMS] + v * LANES;
        const vec before = vec_load(statistic), now = OF_MAP(statistic)(s, b->width, t->keys, before);
        const vec shrink = OF_MAP(shrink)(before, now);
        const vec added = task->drops ? OF_MAP(weigh_rows)(task, s, b->width, t->keys, now, b->words[v],
                                                           task->columns + t->first, true)
                                      : OF_MAP(weigh_rows)(task, s, b->width, t->keys, now, b->words[v], NULL, false);
        vec_store(sum, vec_load(sum) * shrink + added);
        vec_store(statistic, now);
        if (t->first == 0) continue;
        ts_real *y = w->buffer[SUM_LANES] + v * LANES;
        for (int64_t c = 0; c < task->a->f; c++, y += b->width)
            vec_store(y, b->careful ? vec_times(shrink, vec_load(y)) : vec_load(y) * shrink);
    }
}

/* Scores become weights, not divided by the sum, and dP becomes dS. `drops` and `slopes` are compile-time constants. */
SIMD_INLINE void OF_MAP(slope_rows)(const ts_fast_task *task, const block *b, const workspace *w, const key_tile *t,
                                    int64_t v, const bool drops, const bool slopes) {
    const vec statistic = vec_load(w->buffer[STATISTICS] + v * LANES), mean = vec_load(w->buffer[MEANS] + v * LANES);
    const vec_word row = b->words[v];
    const uint32_t *columns = drops ? task->columns + t->first : NULL;
    ts_real *s = t->scores + v * LANES, *d = t->slopes + v * LANES;
    for (int64_t j = 0; j < t->keys; j++, s += b->width, d += b->width) {
        const vec score = vec_load(s), weight = OF_MAP(weight)(score, statistic);
        const vec_signed draw = drops ? draws(row, columns[j]) : (vec_signed){0};
        vec_store(s, drops ? vec_where_at_least(draw, task->key.threshold, weight) : weight);
        if (!slopes) continue;
        const vec dp = vec_load(d);
        vec_store(d, OF_MAP(slope)(score, weight, statistic,
                                   (drops ? vec_where_at_least(draw, task->key.threshold, dp) : dp) - mean));
    }
}

static void OF_MAP(slopes)(const ts_fast_task *task, const block *b, const workspace *w, const key_tile *t,
                           bool slopes) {
    for (int64_t v = 0; v < b->vecs; v++)
        if (task->drops && slopes)
            OF_MAP(slope_rows)(task, b, w, t, v, true, true);
        else if (task->drops)
            OF_MAP(slope_rows)(task, b, w, t, v, true, false);
        else
            OF_MAP(slope_rows)(task, b, w, t, v, false, slopes);
}

#undef OF_MAP
#undef JOIN
#undef JOIN_AGAIN
#undef MAP
