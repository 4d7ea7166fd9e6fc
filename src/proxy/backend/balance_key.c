/* The keys that hash algorithms look up. */
#include <arpa/inet.h>
#include <string.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"
#include "http/uri.h"
#include "net/addr.h"
#include "proxy/backend/balance.h"
#include "rule/sample/expr.h"

void
balance_by_fini(struct balance_by *by)
{
	mem_free(by->name);
	if (!by->borrowed)
		rule_expr_free(&by->expr);
	memset(by, 0, sizeof(*by));
}

int
balance_by_inherit(struct balance_by *by, const struct balance_by *defaults)
{
	char *name;

	if (mem_copy_string(&name, defaults->name) < 0)
		return -ERR_NOMEM;
	*by = *defaults;
	by->name = name;
	by->borrowed = by->expr != NULL;
	return 0;
}

static uint32_t
hash_spread(const struct hash_type *t, uint32_t h)
{
	return t->avalanche ? hash_avalanche(h) : h;
}

/* An address as one number, in HAProxy's way, so that clients keep their servers. */
int
balance_key_of_addr(const struct hash_type *t, const struct addr *a, uint32_t *key)
{
	uint32_t word[4];

	if (addr_family(a) == AF_INET) {
		*key = hash_spread(t, ntohl(a->u.in.sin_addr.s_addr));
		return 1;
	}
	if (addr_family(a) != AF_INET6)
		return 0;
	memcpy(word, &a->u.in6.sin6_addr, sizeof(word));
	*key = hash_spread(t, ntohl(word[0] ^ word[1] ^ word[2] ^ word[3]));
	return 1;
}

uint32_t
balance_key_of_text(const struct hash_type *t, const void *p, size_t n)
{
	switch ((enum hash_function)t->function) {
	case HASH_SDBM:
		return hash_spread(t, hash_sdbm(p, n));
	case HASH_DJB2:
		return hash_spread(t, hash_djb2(p, n));
	case HASH_CRC32:
		break;
	}
	return hash_spread(t, hash_crc32(p, n));
}

/*
 * --- keys of requests: the same bytes as HAProxy's, so that clients stay where they were ---
 */

/* Up to the query; at most len bytes, and at most depth slashes. */
static struct str
uri_key(const struct balance_by *by, struct str target)
{
	struct http_uri u;
	unsigned int slashes = 0;
	size_t n;

	http_uri_split(target, &u);
	if (by->path_only && u.path.p)
		target = (struct str){ u.path.p, (size_t)(target.p + target.len - u.path.p) };
	for (n = 0; n < target.len; n++) {
		if ((by->len && n == by->len) || (target.p[n] == '?' && !by->whole) ||
			(target.p[n] == '/' && by->depth && slashes++ == by->depth))
			break;
	}
	return (struct str){ target.p, n };
}

/* name=value, separated by ampersands. */
static int
find_param(const struct balance_by *by, struct str list, struct str *out)
{
	const char *end = list.p + list.len;
	size_t len = strlen(by->name);

	while (list.len) {
		const char *next = memchr(list.p, '&', list.len);
		struct str one = { list.p, (size_t)((next ? next : end) - list.p) };

		if (one.len > len && one.p[len] == '=' && memcmp(one.p, by->name, len) == 0) {
			*out = (struct str){ one.p + len + 1, one.len - len - 1 };
			return 1;
		}
		list.p = next ? next + 1 : end;
		list.len = (size_t)(end - list.p);
	}
	return 0;
}

/* After the question mark. */
static int
param_key(const struct balance_by *by, struct str target, struct str *out)
{
	const char *mark = memchr(target.p, '?', target.len);

	return mark && find_param(by,
		(struct str){ mark + 1, (size_t)(target.p + target.len - mark - 1) }, out);
}

/* "example" of "www.example.com:80". */
static struct str
host_domain(struct str host)
{
	const char *colon = memchr(host.p, ':', host.len);
	size_t end = colon ? (size_t)(colon - host.p) : host.len, from;

	host.len = end;
	while (end > 0 && host.p[end - 1] != '.')
		end--;
	if (end == 0)
		return host;
	for (from = --end; from > 0 && host.p[from - 1] != '.';)
		from--;
	return (struct str){ host.p + from, end - from };
}

/* The first element of the first such field. */
static int
field_key(const struct balance_by *by, const struct http_head *req, struct str *out)
{
	int at = http_find(req, str_of(by->name), 0);
	struct str rest;

	if (at < 0)
		return 0;
	rest = req->field[at].value;
	if (!http_list_next(&rest, out))
		return 0;
	if (by->domain_only)
		*out = host_domain(*out);
	return 1;
}

int
balance_key_of_request(enum balance_algo algo, const struct balance_by *by,
	const struct hash_type *t, const struct http_head *req, uint32_t *key)
{
	struct str text = { NULL, 0 };
	int known = 0;

	if (algo == BALANCE_URI) {
		text = uri_key(by, req->target);
		known = 1;
	} else if (algo == BALANCE_URL_PARAM) {
		known = param_key(by, req->target, &text);
	} else if (algo == BALANCE_HDR) {
		known = field_key(by, req, &text);
	}
	if (known)
		*key = balance_key_of_text(t, text.p, text.len);
	return known;
}

/* HAProxy 2.6 searches the body with and without `check_post`, and waits for it even if the query
 * has the parameter. */
int
balance_wants_body(enum balance_algo algo, const struct http_head *req)
{
	return algo == BALANCE_URL_PARAM && req->method == HTTP_POST;
}

int
balance_key_of_form(const struct balance_by *by, const struct hash_type *t, struct str body,
	uint32_t *key)
{
	struct str text;

	if (!find_param(by, body, &text))
		return 0;
	*key = balance_key_of_text(t, text.p, text.len);
	return 1;
}
