/* The hash of a pattern or a sample. Pure; both sides of a comparison come through here, so
 * that they agree. */
#include "rule/match/pattern_key.h"

#include "rule/match/pattern_entry.h"

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

/* True if the entry's hash, which it has until it is added to a ref, is that of the key. */
static int
is_hashed(const struct pattern *t, struct str key)
{
	const struct pattern_entry *e = pattern_entry_of(t);

	return t->is_first && key.p == e->bytes && key.len == e->first.text_len;
}

static void
pattern_net_of_key(struct str key, struct pattern_net *net)
{
	uint32_t v4;

	memset(net, 0, sizeof(*net));
	net->v6 = key.len == PATTERN_NET_KEY;
	net->bits = (uint8_t)key.p[key.len - 1];
	if (net->v6) {
		memcpy(&net->hi, key.p, 8);
		memcpy(&net->lo, key.p + 8, 8);
		return;
	}
	memcpy(&v4, key.p, 4);
	net->hi = (uint64_t)v4 << 32;
}

uint32_t
pattern_key_hash(const struct pattern_set *p, const struct pattern *t)
{
	const struct keyhash *key = &p->index[0].key; /* both have the same key */
	struct str s = pattern_key(t);
	struct pattern_net net;
	uint64_t hash = 0;

	switch (p->method) {
	case PATTERN_INT:
	case PATTERN_VER:
	case PATTERN_LEN:
		hash = pattern_number_hash(key, pattern_range(t)->lo);
		break;
	case PATTERN_IP:
		pattern_net_of_key(s, &net);
		hash = pattern_net_hash(key, &net);
		break;
	case PATTERN_END:
		hash = hash_backwards(key, s);
		break;
	case PATTERN_BIN:
	case PATTERN_STR:
	case PATTERN_BEG:
	case PATTERN_DIR:
	case PATTERN_DOM:
		hash = is_hashed(t, s) ? pattern_entry_of(t)->hash : keyhash(key, s.p, s.len);
		break;
	case PATTERN_FOUND:
	case PATTERN_BOOL:
	case PATTERN_SUB:
	case PATTERN_REG:
	case PATTERN_METHODS:
		break;
	}
	return (uint32_t)(hash >> 32);
}
