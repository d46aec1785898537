/* arena.c: chunks, large blocks and the list of spare ones. */
#include "arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64, SPOILT = 0xff }; /* SPOILT bytes make NaN in float and in double */

typedef struct chunk {
    struct chunk *next;
    size_t used;
    char *bytes; /* arena->chunk_bytes of them */
} chunk;

typedef struct block {
    char *bytes;
    size_t size;
} block;

typedef struct block_list {
    block *items;
    size_t count, capacity;
} block_list;

struct ts_arena {
    size_t chunk_bytes, large_bytes; /* size of a chunk; of the smallest piece with a block of its own */
    bool spoils;
    chunk *first, *current;
    block_list live;  /* large blocks in the order they were taken */
    block_list spare; /* large blocks that were released */
    size_t held, peak;
};

static size_t aligned(size_t bytes) {
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static void *take_from_system(ts_arena *arena, size_t size) {
    void *bytes = aligned_alloc(ALIGNMENT, size);
    if (bytes == NULL) return NULL;
    if (arena->spoils) memset(bytes, SPOILT, size);
    arena->held += size;
    if (arena->held > arena->peak) arena->peak = arena->held;
    return bytes;
}

static bool push(block_list *list, block item) {
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 16;
        block *items = realloc(list->items, capacity * sizeof *items);
        if (items == NULL) return false;
        list->items = items;
        list->capacity = capacity;
    }
    list->items[list->count++] = item;
    return true;
}

static chunk *chunk_create(ts_arena *arena) {
    chunk *c = malloc(sizeof *c);
    if (c == NULL) return NULL;
    *c = (chunk){.bytes = take_from_system(arena, arena->chunk_bytes)};
    if (c->bytes != NULL) return c;
    free(c);
    return NULL;
}

ts_arena *ts_arena_create(size_t chunk_bytes) {
    ts_arena *arena = calloc(1, sizeof *arena);
    if (arena == NULL) return NULL;
    arena->chunk_bytes = aligned(chunk_bytes);
    arena->large_bytes = arena->chunk_bytes / 4;
    arena->first = arena->current = chunk_create(arena);
    if (arena->first != NULL) return arena;
    free(arena);
    return NULL;
}

static void blocks_free(block_list *list) {
    for (size_t i = 0; i < list->count; i++) free(list->items[i].bytes);
    free(list->items);
}

void ts_arena_free(ts_arena *arena) {
    if (arena == NULL) return;
    for (chunk *c = arena->first, *next; c != NULL; c = next) {
        next = c->next;
        free(c->bytes);
        free(c);
    }
    blocks_free(&arena->live);
    blocks_free(&arena->spare);
    free(arena);
}

static void spare_release(ts_arena *arena, block b) {
    free(b.bytes);
    arena->held -= b.size;
}

/* The smallest spare block that fits without wasting more than half of itself; all zeros when there is none. */
static block spare_take(ts_arena *arena, size_t size) {
    block_list *spare = &arena->spare;
    size_t best = spare->count;
    for (size_t i = 0; i < spare->count; i++) {
        const size_t s = spare->items[i].size;
        if (s >= size && s / 2 <= size && (best == spare->count || s < spare->items[best].size)) best = i;
    }
    if (best == spare->count) return (block){0};
    const block found = spare->items[best];
    spare->items[best] = spare->items[--spare->count];
    return found;
}

static void *take_large(ts_arena *arena, size_t size) {
    block b = spare_take(arena, size);
    if (b.bytes == NULL) {
        /* Free spare blocks of other sizes first, so that the memory held does not grow with every new size. */
        for (size_t freed = 0; freed < size && arena->spare.count > 0;) {
            const block gone = arena->spare.items[--arena->spare.count];
            freed += gone.size;
            spare_release(arena, gone);
        }
        b = (block){.bytes = take_from_system(arena, size), .size = size};
        if (b.bytes == NULL) return NULL;
    }
    if (push(&arena->live, b)) return b.bytes;
    spare_release(arena, b);
    return NULL;
}

void *ts_arena_take(ts_arena *arena, size_t bytes) {
    if (bytes > SIZE_MAX / 2) return NULL;
    const size_t size = bytes == 0 ? ALIGNMENT : aligned(bytes);
    if (size >= arena->large_bytes) return take_large(arena, size);
    if (arena->chunk_bytes - arena->current->used < size) {
        if (arena->current->next == NULL) arena->current->next = chunk_create(arena);
        if (arena->current->next == NULL) return NULL;
        arena->current = arena->current->next;
        arena->current->used = 0;
    }
    void *piece = arena->current->bytes + arena->current->used;
    arena->current->used += size;
    return piece;
}

ts_arena_mark ts_arena_position(const ts_arena *arena) {
    return (ts_arena_mark){arena->current, arena->current->used, arena->live.count};
}

/* Whether the small piece lies after the mark. */
static bool lies_after(const ts_arena *arena, ts_arena_mark mark, const char *piece) {
    for (const chunk *c = mark.chunk; c != NULL; c = c->next) {
        const size_t from = c == mark.chunk ? mark.used : 0;
        if (piece >= c->bytes + from && piece < c->bytes + arena->chunk_bytes) return true;
    }
    return false;
}

static void spare_keep(ts_arena *arena, block b) {
    if (arena->spoils) memset(b.bytes, SPOILT, b.size);
    if (!push(&arena->spare, b)) spare_release(arena, b);
}

/* Fills what a rewind released, from the mark to byte `used` of the chunk `end`, but not the piece that was kept. */
static void spoil(const ts_arena *arena, ts_arena_mark mark, const chunk *end, size_t used) {
    for (const chunk *c = mark.chunk; c != NULL; c = c == end ? NULL : c->next) {
        const size_t from = c == arena->current ? c->used : c == mark.chunk ? mark.used : 0;
        const size_t to = c == end ? used : arena->chunk_bytes;
        if (from < to) memset(c->bytes + from, SPOILT, to - from);
    }
}

void *ts_arena_rewind(ts_arena *arena, ts_arena_mark mark, void *keep, size_t bytes) {
    const chunk *end = arena->current;
    const size_t used = end->used;
    block kept = {0};
    while (arena->live.count > mark.large) {
        const block b = arena->live.items[--arena->live.count];
        if (keep != NULL && (char *)keep == b.bytes)
            kept = b;
        else
            spare_keep(arena, b);
    }
    arena->current = mark.chunk;
    arena->current->used = mark.used;
    if (kept.bytes != NULL) arena->live.items[arena->live.count++] = kept; /* has room: an entry was just popped */
    void *place = keep;
    if (kept.bytes == NULL && keep != NULL && lies_after(arena, mark, keep)) {
        /* The new place is unused, or overlaps the old one from below. */
        place = ts_arena_take(arena, bytes);
        if (place != NULL) memmove(place, keep, bytes);
    }
    if (arena->spoils) spoil(arena, mark, end, used);
    return place;
}

void ts_arena_reset(ts_arena *arena) {
    ts_arena_rewind(arena, (ts_arena_mark){arena->first, 0, 0}, NULL, 0);
}

void ts_arena_poison(ts_arena *arena) {
    arena->spoils = true;
    memset(arena->current->bytes + arena->current->used, SPOILT, arena->chunk_bytes - arena->current->used);
}

bool ts_arena_holds(const ts_arena *arena, const void *piece) {
    return lies_after(arena, (ts_arena_mark){arena->first, 0, 0}, piece);
}

size_t ts_arena_held(const ts_arena *arena) {
    return arena->held;
}

size_t ts_arena_peak(const ts_arena *arena) {
    return arena->peak;
}
