/* arena.h: a region allocator, whose pieces are taken one by one and released together.
 *
 * Small pieces are carved from chunks; a large piece has a block of its own. Releasing (by a reset, or a rewind to a
 * mark) keeps the memory for later pieces, so a repeated computation allocates only the first time. Every piece is
 * aligned to 64 bytes. */
#ifndef TS_ARENA_H
#define TS_ARENA_H

#include <stdbool.h>
#include <stddef.h>

#include "double_names.h"

typedef struct ts_arena ts_arena;

/* A position in the arena: ts_arena_rewind releases everything taken after it. */
typedef struct ts_arena_mark {
    void *chunk;
    size_t used;
    size_t large;
} ts_arena_mark;

/* Chunks have chunk_bytes bytes, which must be at least 64; a piece of a quarter of that or more gets a block of its
 * own. NULL when out of memory. */
ts_arena *ts_arena_create(size_t chunk_bytes);
void ts_arena_free(ts_arena *arena);

/* `bytes` of memory, contents undefined; NULL when out of memory. bytes = 0 gives a valid pointer. */
void *ts_arena_take(ts_arena *arena, size_t bytes);

void ts_arena_reset(ts_arena *arena);
ts_arena_mark ts_arena_position(const ts_arena *arena);

/* Releases everything taken since `mark` except the piece of `bytes` at `keep` (NULL: none), and returns where that
 * piece is now: a large piece stays in place, a small one moves down to the mark, and a piece that was not taken since
 * the mark (or not from this arena) is left alone. */
void *ts_arena_rewind(ts_arena *arena, ts_arena_mark mark, void *keep, size_t bytes);

/* From now on fills released and newly obtained memory with NaN. */
void ts_arena_poison(ts_arena *arena);

/* Whether the piece lies in a chunk of this arena, released or not. */
bool ts_arena_holds(const ts_arena *arena, const void *piece);

/* Bytes held now (in use or kept for reuse), and the most ever held. */
size_t ts_arena_held(const ts_arena *arena);
size_t ts_arena_peak(const ts_arena *arena);

#endif
