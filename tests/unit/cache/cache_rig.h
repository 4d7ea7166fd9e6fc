/* A cache in a memory file, and objects whose bytes depend on key and version. */
#ifndef TESTS_UNIT_CACHE_RIG_H
#define TESTS_UNIT_CACHE_RIG_H

#include <stdio.h>
#include <string.h>

#include "base/keyhash.h"
#include "base/memfile.h"
#include "base/sys.h"
#include "cache/cache.h"
#include "cache/cache_int.h"
#include "unit/test.h"

/* A request, and a response, that nothing selects. */
static const struct cache_variant rig_all;

struct cache_rig {
	struct sys sys;
	struct cache_caller by;
	struct memfile file;
	struct cache *c;
};

static inline void
rig_start(struct cache_rig *r, uint32_t megabytes, uint64_t max_object)
{
	struct cache_conf conf = { megabytes, max_object, 60, 500, 3 };

	memset(r, 0, sizeof(*r));
	sys_init(&r->sys, &sys_linux, NULL);
	r->by = (struct cache_caller){ &r->sys, 1000000 };
	r->c = cache_new("c", &conf, &keyhash_known);
	assert_non_null(r->c);
	assert_int_equal(memfile_create(&r->file, &r->sys, MEMFILE_HEAD + cache_file_room(r->c),
				 cache_file_layout(), 1), 0);
	assert_int_equal(cache_file_place(r->c, &r->file), 0);
}

static inline void
rig_end(struct cache_rig *r)
{
	cache_free(r->c);
	memfile_free(&r->file);
}

static inline struct str
rig_key(unsigned int key, char text[64])
{
	int n = snprintf(text, 64, "http://x/%u%.*s", key, (int)(key % 40),
		"----------------------------------------");

	return (struct str){ text, (size_t)n };
}

/* The byte at offset i of a version's bytes. */
static inline char
rig_byte(unsigned int key, unsigned int version, size_t i)
{
	uint32_t x = key * 2654435761u ^ version * 40503u ^ (uint32_t)(i / 5) * 97u;

	return (char)(x >> (i % 5 * 6));
}

/* Writes n bytes of it from offset at on, in pieces. 0 or negative. */
static inline int
rig_write(struct cache_rig *r, const struct cache_caller *by, struct cache_entry *e,
	unsigned int key, unsigned int version, size_t at, size_t n)
{
	char piece[700];
	int rc = 0;

	while (n && rc == 0) {
		size_t len = MIN(n, 1 + (at * 7 + key) % sizeof(piece));

		for (size_t i = 0; i < len; i++)
			piece[i] = rig_byte(key, version, at + i);
		rc = cache_write(r->c, by, e, piece, len);
		at += len;
		n -= len;
	}
	return rc;
}

/* Stores a version with a head of `head` bytes: 1, or 0. */
static inline int
rig_put(struct cache_rig *r, const struct cache_caller *by, unsigned int key,
	unsigned int version, size_t head, size_t body, unsigned int ms)
{
	char text[64];
	struct str k = rig_key(key, text);
	struct cache_entry *e = cache_begin(r->c, by, k, &rig_all, cache_mark(r->c, by, k));

	if (!e)
		return 0;
	if (rig_write(r, by, e, key, version, 0, head) < 0) {
		cache_abort(r->c, by, e);
		return 0;
	}
	cache_end_head(e);
	if (rig_write(r, by, e, key, version, head, body) < 0) {
		cache_abort(r->c, by, e);
		return 0;
	}
	e->born_ms = by->now_ms;
	e->expires_ms = by->now_ms + ms;
	cache_commit(r->c, by, e, k);
	return 1;
}

/* True if the bytes of a head, or of a part of a body, are those of a version. */
static inline int
rig_is(struct str s, unsigned int key, unsigned int version, size_t at)
{
	for (size_t i = 0; i < s.len; i++)
		if (s.p[i] != rig_byte(key, version, at + i))
			return 0;
	return 1;
}

#endif
