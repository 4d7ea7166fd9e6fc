/* The hash of a pattern or a sample. Pure; both sides of a comparison come through here, so
 * that they agree. */
#include "rule/match/pattern_key.h"

#include <string.h>

int
pattern_is_delimiter(enum pattern_method m, char c)
{
	/* The manual only has the slash for dir, but HAProxy also ends a part at the query. */
	return c == '/' || c == '?' || (m == PATTERN_DOM && (c == '.' || c == ':'));
}

uint64_t
pattern_number_hash(const struct keyhash *key, int64_t v)
{
	return keyhash_end(key, keyhash_number(key, 0, (uint64_t)v));
}

static uint64_t
hash_backwards(const struct keyhash *key, struct str s)
{
	struct keyhash_text t = KEYHASH_TEXT;

	for (size_t i = s.len; i > 0; i--)
		keyhash_byte(key, &t, (unsigned char)s.p[i - 1]);
	return keyhash_so_far(key, &t);
}

struct pattern_index *
pattern_key_index(struct pattern_set *p, const struct pattern *t, uint64_t *hash, size_t *len)
{
	struct pattern_index *text = &p->index[t->nocase];
	const struct keyhash *key = &text->key; /* both have the same key */
	struct pattern_net net = { 0 };

	*len = t->key.len;
	switch (p->method) {
	case PATTERN_INT:
	case PATTERN_VER:
	case PATTERN_LEN:
		*hash = pattern_number_hash(key, t->lo);
		return t->lo == t->hi ? &p->index[0] : NULL;
	case PATTERN_IP:
		memcpy(&net.hi, t->key.p, 8);
		memcpy(&net.lo, t->key.p + 8, 8);
		net.bits = (uint8_t)t->key.p[16];
		net.v6 = (uint8_t)t->key.p[17];
		*hash = pattern_net_hash(key, &net);
		*len = net.bits;
		return &p->index[net.v6];
	case PATTERN_BIN:
		*hash = keyhash(key, t->key.p, t->key.len);
		return &p->index[0];
	case PATTERN_STR:
	case PATTERN_BEG:
		*hash = keyhash(key, t->key.p, t->key.len);
		return text;
	case PATTERN_END:
		*hash = hash_backwards(key, t->key);
		return text;
	case PATTERN_DIR:
	case PATTERN_DOM:
		*hash = keyhash(key, t->key.p, t->key.len);
		return t->key.len && t->key.len <= PATTERN_PART_MAX ? text : NULL;
	case PATTERN_FOUND:
	case PATTERN_BOOL:
	case PATTERN_SUB:
	case PATTERN_REG:
	case PATTERN_METHODS:
		break;
	}
	return NULL;
}
