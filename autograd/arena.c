#include "arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64, CHUNK_BYTES = 1 << 18, LARGE_BYTES = 1 << 16 };

typedef struct chunk {
    struct chunk *next;
    size_t used;
    char *bytes; /* CHUNK_BYTES of them */
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
    chunk *first, *current;
    block_list live;  /* large blocks in the order they were taken */
    block_list spare; /* large blocks given back */
    size_t held, peak;
};

static size_t aligned(size_t bytes) {
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static void *take_from_system(ts_arena *arena, size_t size) {
    void *bytes = aligned_alloc(ALIGNMENT, size);
    if (bytes == NULL) return NULL;
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
    *c = (chunk){.bytes = take_from_system(arena, CHUNK_BYTES)};
    if (c->bytes != NULL) return c;
    free(c);
    return NULL;
}

ts_arena *ts_arena_create(void) {
    ts_arena *arena = calloc(1, sizeof *arena);
    if (arena == NULL) return NULL;
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

/* The smallest spare block that fits without wasting half of itself; size 0 when there is none. */
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
        /* Spare blocks of other sizes go first, so that what is held does not grow with every new size. */
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
    if (size >= LARGE_BYTES) return take_large(arena, size);
    if (CHUNK_BYTES - arena->current->used < size) {
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

/* Was the small piece taken after the mark? */
static bool lies_after(ts_arena_mark mark, const char *piece) {
    for (const chunk *c = mark.chunk; c != NULL; c = c->next) {
        const size_t from = c == mark.chunk ? mark.used : 0;
        if (piece >= c->bytes + from && piece < c->bytes + CHUNK_BYTES) return true;
    }
    return false;
}

void *ts_arena_rewind(ts_arena *arena, ts_arena_mark mark, void *keep, size_t bytes) {
    block kept = {0};
    while (arena->live.count > mark.large) {
        const block b = arena->live.items[--arena->live.count];
        if (keep != NULL && (char *)keep == b.bytes)
            kept = b;
        else if (!push(&arena->spare, b))
            spare_release(arena, b);
    }
    arena->current = mark.chunk;
    arena->current->used = mark.used;
    if (kept.bytes != NULL) arena->live.items[arena->live.count++] = kept; /* room is certain: it was just popped */
    if (kept.bytes != NULL || keep == NULL || !lies_after(mark, keep)) return keep;
    /* Its new place is free, or overlaps it from below. */
    void *place = ts_arena_take(arena, bytes);
    return place == NULL ? NULL : memmove(place, keep, bytes);
}

void ts_arena_reset(ts_arena *arena) {
    ts_arena_rewind(arena, (ts_arena_mark){arena->first, 0, 0}, NULL, 0);
}

size_t ts_arena_held(const ts_arena *arena) {
    return arena->held;
}

size_t ts_arena_peak(const ts_arena *arena) {
    return arena->peak;
}
