/* Looking a sample up among the patterns of a set. */
#include <string.h>

#include "http/head.h"
#include "rule/match/pattern_entry.h"
#include "rule/match/pattern_key.h"

/* The one that was added first; either may be NULL. Where several lines of an ACL share a set,
 * which of their patterns it is makes no difference. */
static const struct pattern *
earlier_of(const struct pattern *a, const struct pattern *b)
{
	return !a      ? b
		: !b ? a
		     : pattern_entry_of(a)->id < pattern_entry_of(b)->id ? a : b;
}

static uint32_t
hash_so_far(const struct pattern_index *x, const struct keyhash_text *t)
{
	return (uint32_t)(keyhash_so_far(&x->key, t) >> 32);
}

static unsigned char
char_at(const struct pattern_index *x, struct str s, size_t i)
{
	unsigned char c = (unsigned char)s.p[i];

	return x->fold ? pattern_fold(c) : c;
}

/* --- texts, by index --- */

static one_copy const struct pattern *
find_equal(const struct pattern_index *x, struct str s)
{
	struct keyhash_text t = KEYHASH_TEXT;

	for (size_t i = 0; i < s.len; i++)
		keyhash_byte(&x->key, &t, char_at(x, s, i));
	return pattern_index_find(x, hash_so_far(x, &t), s.p, s.len);
}

static inline const struct pattern *
find_whole(const struct pattern_index *x, struct str s)
{
	return pattern_index_has_len(x, s.len) ? find_equal(x, s) : NULL;
}

/* The longest key that is a prefix of s. */
static const struct pattern *
find_beginning(const struct pattern_index *x, struct str s)
{
	const struct pattern *best = NULL, *hit;
	struct keyhash_text t = KEYHASH_TEXT;
	size_t n = MIN(s.len, x->len_max);

	for (size_t len = 0;; len++) {
		if (pattern_index_has_len(x, len)) {
			hit = pattern_index_find(x, hash_so_far(x, &t), s.p, len);
			best = hit ? hit : best;
		}
		if (len >= n)
			return best;
		keyhash_byte(&x->key, &t, char_at(x, s, len));
	}
}

static const struct pattern *
find_end(const struct pattern_index *x, struct str s)
{
	const struct pattern *best = NULL;
	struct keyhash_text t = KEYHASH_TEXT;
	size_t n = MIN(s.len, x->len_max);

	for (size_t len = 0;; len++) {
		if (pattern_index_has_len(x, len))
			best = earlier_of(best, pattern_index_find(x, hash_so_far(x, &t),
						      s.p + s.len - len, len));
		if (len >= n)
			return best;
		keyhash_byte(&x->key, &t, char_at(x, s, s.len - len - 1));
	}
}

/* A key that begins at offset `from` and ends at a delimiter or the end. */
static const struct pattern *
find_part_at(const struct pattern_index *x, enum pattern_method m, struct str s, size_t from)
{
	const struct pattern *best = NULL;
	struct keyhash_text t = KEYHASH_TEXT;
	size_t end = MIN(s.len, from + x->len_max);

	for (size_t i = from; i < end; i++) {
		keyhash_byte(&x->key, &t, char_at(x, s, i));
		if (!pattern_index_has_len(x, i + 1 - from))
			continue;
		if (i + 1 == s.len || pattern_is_delimiter(m, s.p[i + 1]))
			best = earlier_of(best, pattern_index_find(x, hash_so_far(x, &t),
						      s.p + from, i + 1 - from));
	}
	return best;
}

static const struct pattern *
find_part(const struct pattern_index *x, enum pattern_method m, struct str s)
{
	const struct pattern *best = NULL;

	if (!x->n)
		return NULL;
	for (size_t i = 0; i < s.len; i++)
		if (i == 0 || pattern_is_delimiter(m, s.p[i - 1]))
			best = earlier_of(best, find_part_at(x, m, s, i));
	return best;
}

/* Finds a pattern by methods that compare a part of the text. */
static one_copy const struct pattern *
find_inside(const struct pattern_index *x, enum pattern_method m, struct str s)
{
	if (m == PATTERN_BEG)
		return find_beginning(x, s);
	if (m == PATTERN_END)
		return find_end(x, s);
	return find_part(x, m, s);
}

static inline const struct pattern *
find_text(const struct pattern_index *x, enum pattern_method m, struct str s)
{
	if (!x->n)
		return NULL;
	return m == PATTERN_STR || m == PATTERN_BIN ? find_whole(x, s) : find_inside(x, m, s);
}

/* --- texts, one by one --- */

static int
key_is_at(const struct pattern *t, struct str s, size_t from)
{
	struct str key = pattern_key(t);

	if (!t->nocase)
		return memcmp(s.p + from, key.p, key.len) == 0;
	for (size_t i = 0; i < key.len; i++)
		if (pattern_fold((unsigned char)s.p[from + i]) != (unsigned char)key.p[i])
			return 0;
	return 1;
}

static int
has_inside(const struct pattern *t, struct str s)
{
	struct str key = pattern_key(t);

	if (key.len > s.len)
		return 0;
	if (!t->nocase)
		return memmem(s.p, s.len, key.p, key.len) != NULL;
	for (size_t i = 0; i + key.len <= s.len; i++)
		if (key_is_at(t, s, i))
			return 1;
	return 0;
}

static int
has_part(const struct pattern *t, enum pattern_method m, struct str s)
{
	for (size_t i = 0; t->key_len && i + t->key_len <= s.len; i++) {
		size_t end = i + t->key_len;

		if ((i == 0 || pattern_is_delimiter(m, s.p[i - 1])) &&
			(end == s.len || pattern_is_delimiter(m, s.p[end])) && key_is_at(t, s, i))
			return 1;
	}
	return 0;
}

static const struct pattern *
try_texts(const struct pattern_set *p, struct str s, struct sample_ctx *cx,
	struct regex_match *groups)
{
	for (uint32_t i = 0; i < p->n_list; i++) {
		const struct pattern *t = p->list[i];

		if (p->method == PATTERN_REG ? regex_match(pattern_regex(t), cx, s, 0, groups)
			: p->method == PATTERN_SUB ? has_inside(t, s)
						   : has_part(t, p->method, s))
			return t;
	}
	return NULL;
}

/* The one with case first; either may be NULL. */
static const struct pattern *
better_of(enum pattern_method m, const struct pattern *a, const struct pattern *b)
{
	if (a && b && m == PATTERN_BEG)
		return a->key_len >= b->key_len ? a : b;
	return earlier_of(a, b);
}

static const struct pattern *
match_text(const struct pattern_set *p, struct str s, struct sample_ctx *cx,
	struct regex_match *groups)
{
	const struct pattern *hit;

	if (!s.p)
		s = STR("");
	hit = find_text(&p->index[0], p->method, s);
	if (p->index[1].n)
		hit = better_of(p->method, hit, find_text(&p->index[1], p->method, s));
	return p->n_list ? earlier_of(hit, try_texts(p, s, cx, groups)) : hit;
}

/* --- numbers and addresses --- */

static const struct pattern *
match_number(const struct pattern_set *p, int64_t v)
{
	const struct pattern *best = NULL;
	char key[sizeof(v)];

	memcpy(key, &v, sizeof(v));
	if (p->index[0].n)
		best = pattern_index_find(
			&p->index[0], (uint32_t)(pattern_number_hash(&p->index[0].key, v) >> 32),
			key, sizeof(key));
	for (uint32_t i = 0; i < p->n_list; i++) {
		const struct pattern_range *r = pattern_range(p->list[i]);

		if (r->lo <= v && v <= r->hi)
			return earlier_of(best, p->list[i]);
	}
	return best;
}

/* The longest network that contains the address. */
static const struct pattern *
find_net(const struct pattern_index *x, struct pattern_net net)
{
	const struct pattern *hit;
	char key[PATTERN_NET_KEY];
	size_t len;

	if (!x->n)
		return NULL;
	for (int bits = pattern_index_len_to(x, net.bits); bits >= 0;
		bits = pattern_index_len_to(x, bits - 1)) {
		pattern_net_cut(&net, (unsigned int)bits);
		len = pattern_net_key(&net, key);
		hit = pattern_index_find(
			x, (uint32_t)(pattern_net_hash(&x->key, &net) >> 32), key, len);
		if (hit)
			return hit;
	}
	return NULL;
}

/* The IPv4 address in 2002:<it>::, ::<it> or ::ffff:<it>. */
static int
v4_inside(const struct pattern_net *v6, struct pattern_net *v4)
{
	*v4 = (struct pattern_net){ .bits = 32 };
	if (v6->hi >> 48 == 0x2002)
		v4->hi = v6->hi << 16 & UINT64_C(0xffffffff00000000);
	else if (v6->hi == 0 && (v6->lo >> 32 == 0 || v6->lo >> 32 == 0xffff))
		v4->hi = v6->lo << 32;
	else
		return 0;
	return 1;
}

static const struct pattern *
match_net(const struct pattern_set *p, const struct sample *s)
{
	const struct pattern *hit;
	struct pattern_net net, other;

	pattern_net_of(s, &net);
	hit = find_net(&p->index[net.v6], net);
	if (hit)
		return hit;
	if (net.v6)
		return v4_inside(&net, &other) ? find_net(&p->index[0], other) : NULL;
	other = (struct pattern_net){ .v6 = 1, .bits = 128 };
	other.lo = UINT64_C(0xffff) << 32 | net.hi >> 32;
	return find_net(&p->index[1], other);
}

/* --- samples --- */

/* Casts to the text that a method compares. */
static int
as_text(struct sample *s, struct sample_ctx *cx)
{
	return s->type == SAMPLE_STR || s->type == SAMPLE_BIN ||
		sample_cast(s, SAMPLE_STR, cx->arena) == 0;
}

static int
as_bytes(struct sample *s, struct sample_ctx *cx)
{
	return s->type == SAMPLE_STR || sample_cast(s, SAMPLE_BIN, cx->arena) == 0;
}

static int
as_address(struct sample *s, struct sample_ctx *cx)
{
	return s->type == SAMPLE_IPV4 || s->type == SAMPLE_IPV6 ||
		((s->type != SAMPLE_BIN || sample_cast(s, SAMPLE_STR, cx->arena) == 0) &&
			sample_cast(s, SAMPLE_ADDR, cx->arena) == 0);
}

static int
as_number(struct sample *s, struct sample_ctx *cx)
{
	return s->type == SAMPLE_SINT || s->type == SAMPLE_BOOL ||
		sample_cast(s, SAMPLE_SINT, cx->arena) == 0;
}

const struct pattern *
pattern_match(const struct pattern_set *p, const struct sample *sample, struct sample_ctx *cx,
	struct regex_match *groups)
{
	struct sample s = *sample;

	switch (p->method) {
	case PATTERN_INT:
	case PATTERN_VER:
		return as_number(&s, cx) ? match_number(p, s.u.sint) : NULL;
	case PATTERN_LEN:
		return as_text(&s, cx) ? match_number(p, (int64_t)s.u.str.len) : NULL;
	case PATTERN_IP:
		return as_address(&s, cx) ? match_net(p, &s) : NULL;
	case PATTERN_BIN:
		return as_bytes(&s, cx) ? match_text(p, s.u.str, cx, groups) : NULL;
	case PATTERN_STR:
	case PATTERN_BEG:
	case PATTERN_END:
	case PATTERN_SUB:
	case PATTERN_DIR:
	case PATTERN_DOM:
	case PATTERN_REG:
		return as_text(&s, cx) ? match_text(p, s.u.str, cx, groups) : NULL;
	case PATTERN_FOUND:
	case PATTERN_BOOL:
	case PATTERN_METHODS:
		break;
	}
	return NULL;
}

/* HAProxy does not know PATCH. */
static int
is_known_method(struct str text)
{
	enum http_method m = http_method_of(text);

	return m != HTTP_OTHER && m != HTTP_PATCH;
}

/* True if a pattern with -i, which equals it but for case, stands for this method. */
static int
stands_for(const struct pattern *t, struct str method)
{
	struct str text = pattern_entry_text(pattern_entry_of(t));

	return is_known_method(text) || is_known_method(method) ? str_is(text, method) : 1;
}

const struct pattern *
pattern_match_http_method(const struct pattern_set *p, struct str method)
{
	const struct pattern *t = p->index[0].n ? find_whole(&p->index[0], method) : NULL;

	if (t || !p->index[1].n)
		return t;
	t = find_whole(&p->index[1], method);
	if (!t || stands_for(t, method))
		return t;
	list_each(it, &t->same)
		if (stands_for(list_entry(it, const struct pattern, same), method))
			return list_entry(it, const struct pattern, same);
	return NULL;
}

int
pattern_match_bool(const struct sample *sample, struct sample_ctx *cx)
{
	struct sample s = *sample;

	if (!as_number(&s, cx))
		return 0;
	return s.u.sint != 0;
}
