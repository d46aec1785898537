/* arena.h: memory that is taken piece by piece and given back all together.
 *
 * Small pieces are carved from chunks; a large piece is a block of its own. Giving back (reset, or rewind to a mark)
 * keeps the memory for the pieces that follow, so a computation that repeats itself allocates only the first time.
 * Every piece is aligned to 64 bytes. */
#ifndef TS_ARENA_H
#define TS_ARENA_H

#include <stdbool.h>
#include <stddef.h>

#include "double_names.h"

typedef struct ts_arena ts_arena;

/* A position: everything taken after it is given back by ts_arena_rewind. */
typedef struct ts_arena_mark {
    void *chunk;
    size_t used;
    size_t large;
} ts_arena_mark;

/* Chunks have so many bytes, at least 64; a piece of a quarter of them or more is a block of its own. NULL when out of
 * memory. */
ts_arena *ts_arena_create(size_t chunk_bytes);
void ts_arena_free(ts_arena *arena);

/* `bytes` of memory, contents undefined; NULL when out of memory. bytes = 0 gives a valid pointer. */
void *ts_arena_take(ts_arena *arena, size_t bytes);

void ts_arena_reset(ts_arena *arena);
ts_arena_mark ts_arena_position(const ts_arena *arena);

/* Gives back what was taken since `mark` except the piece of `bytes` at `keep` (NULL: none), and returns where that
 * piece is now: a large one stays in place, a small one slides down to the mark, and one that was not taken since the
 * mark (or not from this arena) is left alone. */
void *ts_arena_rewind(ts_arena *arena, ts_arena_mark mark, void *keep, size_t bytes);

/* From here on what is given back, and what is new, is filled with numbers that are none (NaN). */
void ts_arena_spoil(ts_arena *arena);

/* Does the piece lie in a chunk of this arena, given back or not? */
bool ts_arena_holds(const ts_arena *arena, const void *piece);

/* Bytes held now (in use or kept for later), and the most ever held. */
size_t ts_arena_held(const ts_arena *arena);
size_t ts_arena_peak(const ts_arena *arena);

#endif
