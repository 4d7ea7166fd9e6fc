/* Reads fields about caching (RFC 9111). Pure. */
#include "http/caching.h"

#include <string.h>

#include "base/err.h"
#include "http/date.h"
#include "http/uri.h"

/* The highest age (RFC 9111, 1.2.2). */
#define SECONDS_MAX UINT64_C(2147483647)

/* --- directives --- */

/* A directive of Cache-Control. */
struct directive {
	struct str name, value;  /* value without quotes; p NULL: none */
};

static struct directive
split_directive(struct str s)
{
	const char *is = s.len ? memchr(s.p, '=', s.len) : NULL;
	struct directive d = { str_trim(s), { NULL, 0 } };

	if (!is)
		return d;
	d.name = str_trim((struct str){ s.p, (size_t)(is - s.p) });
	d.value = str_trim((struct str){ is + 1, s.len - (size_t)(is - s.p) - 1 });
	if (d.value.len >= 2 && d.value.p[0] == '"' && d.value.p[d.value.len - 1] == '"') {
		d.value.p++;
		d.value.len -= 2;
	}
	return d;
}

/* Seconds; larger ones are the highest. -1: it is no number. */
static int64_t
delta_of(struct str s)
{
	uint64_t v = 0;

	if (!s.len)
		return -1;
	for (size_t i = 0; i < s.len; i++) {
		if (s.p[i] < '0' || s.p[i] > '9')
			return -1;
		v = MIN(v * 10 + (uint64_t)(s.p[i] - '0'), SECONDS_MAX);
	}
	return (int64_t)v;
}

static int
directive_is(const struct directive *d, const char *name)
{
	return str_is_nocase(d->name, str_of(name));
}

/* The fields of Cache-Control of a response. */
struct control {
	int forbids, is_public;
	int64_t s_maxage, max_age; /* -1: not there; 0 also if it is invalid */
};

/* Notes an age or a lifetime: of several ones the lowest counts. */
static void
note_age(int64_t *age, struct str value)
{
	int64_t v = MAX(delta_of(value), 0);

	*age = *age < 0 ? v : MIN(*age, v);
}

static void
take_directive(struct control *c, struct str text)
{
	const struct directive d = split_directive(text);

	if (directive_is(&d, "no-store") || directive_is(&d, "no-cache") ||
		directive_is(&d, "private"))
		c->forbids = 1;
	else if (directive_is(&d, "public"))
		c->is_public = 1;
	else if (directive_is(&d, "s-maxage"))
		note_age(&c->s_maxage, d.value);
	else if (directive_is(&d, "max-age"))
		note_age(&c->max_age, d.value);
	/* As in HAProxy: max-age=0 counts besides s-maxage. */
	if (c->s_maxage == 0 || c->max_age == 0)
		c->forbids = 1;
}

static struct control
control_of(const struct http_head *res)
{
	struct control c = { 0, 0, -1, -1 };

	for (int i = http_find_id(res, HTTP_F_CACHE_CONTROL, 0); i >= 0;
		i = http_find_id(res, HTTP_F_CACHE_CONTROL, (unsigned int)i + 1)) {
		struct str rest = res->field[i].value, one;

		while (http_list_next(&rest, &one))
			take_directive(&c, one);
	}
	return c;
}

/* --- requests --- */

/* True if the client wants a response of the server. */
static int
wants_new(const struct http_head *req)
{
	static const char *const words[] = { "no-cache", "max-age", "max-stale", "min-fresh" };
	int at = http_find_id(req, HTTP_F_CACHE_CONTROL, 0);

	if (at < 0)
		return http_lists(req, HTTP_F_PRAGMA, STR("no-cache"));
	for (; at >= 0; at = http_find_id(req, HTTP_F_CACHE_CONTROL, (unsigned int)at + 1)) {
		struct str rest = req->field[at].value, one;

		while (http_list_next(&rest, &one)) {
			const struct directive d = split_directive(one);

			for (size_t i = 0; i < ARRAY_LEN(words); i++)
				if (directive_is(&d, words[i]))
					return 1;
		}
	}
	return 0;
}

static int
may_change_resource(enum http_method m)
{
	return m != HTTP_GET && m != HTTP_HEAD && m != HTTP_OPTIONS && m != HTTP_TRACE &&
		m != HTTP_CONNECT;
}

unsigned int
http_caching_of_request(const struct http_head *req, enum http_method asked)
{
	unsigned int may = 0;

	if (may_change_resource(asked))
		return HTTP_CACHE_FORGETS;
	if ((asked != HTTP_GET && asked != HTTP_HEAD) || req->version == HTTP_1_0 ||
		req->framing == HTTP_BODY_CHUNKED ||
		(req->framing == HTTP_BODY_LENGTH && req->length))
		return 0;
	if (asked == HTTP_GET && !http_lists(req, HTTP_F_CACHE_CONTROL, STR("no-store")))
		may |= HTTP_CACHE_STORES;
	if (http_find_id(req, HTTP_F_AUTHORIZATION, 0) >= 0)
		return may | HTTP_CACHE_IF_PUBLIC;
	return wants_new(req) ? may : may | HTTP_CACHE_SERVES;
}

/* --- responses --- */

/* 0, also without one, or -1: it is invalid. */
static int
read_age(const struct http_head *res, int *has_age, uint64_t *age)
{
	int at = http_find(res, STR("Age"), 0);
	int64_t v = at < 0 ? 0 : delta_of(res->field[at].value);

	*has_age = at >= 0;
	*age = v < 0 ? 0 : (uint64_t)v;
	return v < 0 ? -1 : 0;
}

/* The seconds from Date, or from now on, to Expires; 0: it has passed, or is invalid. -1: there is
 * none. */
static int64_t
expires_in(const struct http_head *res, int64_t now_s)
{
	int at = http_find_id(res, HTTP_F_EXPIRES, 0), date = http_find_id(res, HTTP_F_DATE, 0);
	int64_t end, from;

	if (at < 0)
		return -1;
	if (http_date_parse(res->field[at].value, &end) < 0)
		return 0;
	if (date < 0 || http_date_parse(res->field[date].value, &from) < 0)
		from = now_s;
	return end > from ? MIN(end - from, (int64_t)SECONDS_MAX) : 0;
}

static int
has_validator(const struct http_head *res)
{
	return http_find(res, STR("ETag"), 0) >= 0 || http_find(res, STR("Last-Modified"), 0) >= 0;
}

/* Returns the lifetime that the response states, or the longest one if it has a validator and no
 * age. 0: it is not stored. */
static uint64_t
lifetime_of(const struct http_head *res, const struct control *c, int has_age, int64_t now_s)
{
	int64_t lifetime = c->s_maxage >= 0 ? c->s_maxage : c->max_age;

	if (lifetime < 0)
		lifetime = expires_in(res, now_s);
	if (lifetime >= 0)
		return (uint64_t)lifetime;
	return !has_age && has_validator(res) ? SECONDS_MAX : 0;
}

/* True if the response sets no cookie, which is for one client, or the server permits caches to
 * share it. */
static int
shares_no_cookie(const struct http_head *res, const struct control *c)
{
	return c->is_public || c->s_maxage >= 0 ||
		(http_find_id(res, HTTP_F_SET_COOKIE, 0) < 0 &&
			http_find(res, STR("Set-Cookie2"), 0) < 0);
}

int
http_caching_of_response(const struct http_head *res, int only_public, int64_t now_s,
	uint32_t max_age_s, struct http_freshness *out)
{
	const struct control c = control_of(res);
	int has_age;
	uint64_t lifetime;

	if (res->status != 200 || c.forbids || (only_public && !c.is_public) ||
		http_lists(res, HTTP_F_PRAGMA, STR("no-cache")) || !shares_no_cookie(res, &c))
		return 0;
	if (res->framing != HTTP_BODY_LENGTH && res->framing != HTTP_BODY_CHUNKED)
		return 0;
	if (read_age(res, &has_age, &out->age_s) < 0)
		return 0;
	lifetime = lifetime_of(res, &c, has_age, now_s);
	if (lifetime <= out->age_s)
		return 0;
	out->lifetime_s = MIN(lifetime - out->age_s, max_age_s);
	return out->lifetime_s > 0;
}

/* --- conditional requests --- */

static struct str
without_weakness(struct str tag)
{
	return tag.len > 2 && tag.p[0] == 'W' && tag.p[1] == '/'
		? (struct str){ tag.p + 2, tag.len - 2 } : tag;
}

/* True if a list of If-None-Match has the tag, by weak comparison, or "*". */
static int
names_tag(struct str list, struct str tag)
{
	struct str one;

	while (http_list_next(&list, &one))
		if (str_is(one, STR("*")) || (tag.len &&
				str_is(without_weakness(one), without_weakness(tag))))
			return 1;
	return 0;
}

/* The date of a field of this name: 0, or -1: there is none that is valid. */
static int
date_of(const struct http_head *h, struct str name, int64_t *sec)
{
	int at = http_find(h, name, 0);

	return at >= 0 && http_date_parse(h->field[at].value, sec) == 0 ? 0 : -1;
}

int
http_caching_has_condition(const struct http_head *req)
{
	return http_find(req, STR("If-None-Match"), 0) >= 0 ||
		http_find(req, STR("If-Modified-Since"), 0) >= 0;
}

int
http_caching_is_partial(const struct http_head *req)
{
	static const char *const names[] = { "Range", "If-Match", "If-Unmodified-Since" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (http_find(req, str_of(names[i]), 0) >= 0)
			return 1;
	return http_caching_has_condition(req);
}

int
http_caching_is_unmodified(const struct http_head *req, const struct http_head *res,
	int64_t received_s)
{
	struct str name = STR("If-None-Match"), none = { NULL, 0 };
	int tag = http_find(res, STR("ETag"), 0), at = http_find(req, name, 0);
	int64_t since, modified;

	if (at >= 0) {
		for (; at >= 0; at = http_find(req, name, (unsigned int)at + 1))
			if (names_tag(req->field[at].value,
				tag >= 0 ? res->field[tag].value : none))
				return 1;
		return 0;
	}
	if (date_of(req, STR("If-Modified-Since"), &since) < 0)
		return 0;
	if (date_of(res, STR("Last-Modified"), &modified) < 0 &&
		date_of(res, STR("Date"), &modified) < 0)
		modified = received_s;
	return modified <= since;
}

/* --- keys --- */

long
http_caching_key(const struct http_head *req, int is_tls, char *to, size_t cap)
{
	struct str scheme = is_tls ? STR("https://") : STR("http://");
	int at = http_find_id(req, HTTP_F_HOST, 0);
	long n;

	if (at < 0 || !req->field[at].value.len)
		return 0;
	if (cap < scheme.len)
		return -ERR_RANGE;
	memcpy(to, scheme.p, scheme.len);
	n = http_base(req, 1, to + scheme.len, cap - scheme.len);
	if (n <= 0)
		return n;
	for (size_t i = 0; i < req->field[at].value.len; i++)
		to[scheme.len + i] = str_lower(to[scheme.len + i]);
	return (long)scheme.len + n;
}
