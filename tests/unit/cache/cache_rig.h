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

/* Puts the n bytes of a version from offset `at` on. Each five are made of one number. */
static inline void
rig_fill(char *p, unsigned int key, unsigned int version, size_t at, size_t n)
{
	uint32_t of = key * 2654435761u ^ version * 40503u, five = (uint32_t)(at / 5);
	size_t from = at % 5;

	for (; n > 0; five++, from = 0) {
		uint32_t x = of ^ five * 97u;
		const char bytes[5] = { (char)x, (char)(x >> 6), (char)(x >> 12), (char)(x >> 18),
			(char)(x >> 24) };
		size_t len = MIN(n, 5 - from);

		if (len == 5)
			memcpy(p, bytes, 5);
		else
			memcpy(p, bytes + from, len);
		p += len;
		n -= len;
	}
}

/* Writes n bytes of a version from offset at on, in pieces. 0 or negative. */
static inline int
rig_write(struct cache_rig *r, const struct cache_caller *by, struct cache_entry *e,
	unsigned int key, unsigned int version, size_t at, size_t n)
{
	char piece[700];
	int rc = 0;

	while (n && rc == 0) {
		size_t len = MIN(n, 1 + (at * 7 + key) % sizeof(piece));

		rig_fill(piece, key, version, at, len);
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
	char piece[700];

	for (size_t i = 0; i < s.len; i += sizeof(piece)) {
		size_t len = MIN(s.len - i, sizeof(piece));

		rig_fill(piece, key, version, at + i, len);
		if (memcmp(s.p + i, piece, len) != 0)
			return 0;
	}
	return 1;
}

#endif
