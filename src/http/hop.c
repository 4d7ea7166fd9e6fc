/* Drops the fields that concern one connection only. Pure; one pass over the fields. */
#include "http/hop.h"

#include <string.h>

#include "http/scan.h"

/* True for a request of HTTP/1.0: its sender knows neither TE nor Upgrade. */
static int
is_old_request(const struct http_head *h)
{
	return h->kind == HTTP_REQUEST && h->version == HTTP_1_0;
}

static unsigned int
take_connection(struct http_head *h, unsigned int place)
{
	const struct http_field *f = &h->field[place];
	unsigned int options = 0;

	if (!is_old_request(h) && http_list_has(f->value, STR("upgrade")))
		options |= HTTP_HOP_SWITCH;
	if (!f->arrived && http_list_has(f->value, STR("close")))
		options |= HTTP_HOP_CLOSE;
	http_drop(h, place);
	return options;
}

/* --- Upgrade --- */

/* The next element, without blanks; a quote has no meaning in a list of protocols. 0 when there are
 * no more. */
static int
next_protocol(struct str *rest, struct str *out)
{
	const char *comma;
	size_t n;

	if (!rest->len)
		return 0;
	comma = memchr(rest->p, ',', rest->len);
	n = comma ? (size_t)(comma - rest->p) : rest->len;
	*out = str_trim((struct str){ rest->p, n });
	n += comma != NULL;
	rest->p += n;
	rest->len -= n;
	return 1;
}

static int
begins_nocase(struct str s, struct str with)
{
	return s.len >= with.len && str_is_nocase((struct str){ s.p, with.len }, with);
}

/* h2, h2c and their drafts (h2c-14), with or without a version. */
static int
is_http2(struct str name)
{
	return str_is_nocase(name, STR("h2")) || str_is_nocase(name, STR("h2c")) ||
		begins_nocase(name, STR("h2-")) || begins_nocase(name, STR("h2c-"));
}

/*
 * True if this protocol may be offered: a name, maybe with a version (RFC 9110, 7.8), and not
 * HTTP/2, whose requests would pass the rules unseen. Anything else could be read as h2c by a
 * lenient server.
 */
static int
may_be_offered(struct str protocol)
{
	size_t n = http_scan_token(protocol.p, protocol.len), v;

	if (!n || is_http2((struct str){ protocol.p, n }))
		return 0;
	if (n == protocol.len)
		return 1;
	v = protocol.len - n - 1;
	return protocol.p[n] == '/' && v && http_scan_token(protocol.p + n + 1, v) == v;
}

/* The next run of protocols that stand side by side and may be offered. 0: there is none. *bad: one
 * was left out before it. */
static int
next_run(struct str *rest, struct str *run, int *bad)
{
	struct str one;

	*run = (struct str){ NULL, 0 };
	while (next_protocol(rest, &one)) {
		if (!one.len)
			continue;
		if (may_be_offered(one)) {
			if (!run->p)
				run->p = one.p;
			run->len = (size_t)(one.p + one.len - run->p);
			continue;
		}
		*bad = 1;
		if (run->p)
			return 1;
	}
	return run->p != NULL;
}

/* Adds a further field of Upgrade, which has arrived if the first one has. 0 or -1: no room. */
static int
add_run(struct http_head *h, const struct http_field *first, struct str run)
{
	unsigned int i;

	if (http_add(h, first->name, run) < 0)
		return -1;
	/* The new field stands behind all others of its name. */
	for (i = h->n - 1; h->field[i].id != HTTP_F_UPGRADE || h->field[i].dropped; i--)
		;
	h->field[i].arrived = first->arrived;
	return 0;
}

/*
 * Leaves the protocols that may be offered. Several runs of them become several fields, which needs
 * no memory; those for which the head has no room are not offered. Returns bits of enum http_hop.
 */
static unsigned int
take_upgrade(struct http_head *h, unsigned int place)
{
	struct http_field *f = &h->field[place];
	struct str rest = f->value, run, more;
	int bad = 0;

	if (!next_run(&rest, &run, &bad)) {
		http_drop(h, place);
		return bad ? HTTP_HOP_REFUSED : 0;
	}
	while (next_run(&rest, &more, &bad))
		if (add_run(h, f, more) < 0)
			break;
	if (!bad)
		return HTTP_HOP_UPGRADE;
	f->value = run;
	return HTTP_HOP_UPGRADE | HTTP_HOP_REFUSED;
}

static int
has_websocket_key(const struct http_head *h)
{
	enum { KEY_LEN = 24 };
	struct str name = STR("Sec-WebSocket-Key");

	for (int i = http_find(h, name, 0); i >= 0; i = http_find(h, name, (unsigned int)i + 1))
		if (h->field[i].value.len == KEY_LEN)
			return 1;
	return 0;
}

int
http_lacks_websocket(const struct http_head *h)
{
	if (!http_lists(h, HTTP_F_UPGRADE, STR("websocket")))
		return 0;
	return h->kind == HTTP_REQUEST ? !has_websocket_key(h)
				       : http_find(h, STR("Sec-WebSocket-Accept"), 0) < 0;
}

/* --- TE --- */

/* Removes all elements of TE but `trailers`: transfer codings are agreed between neighbours
 * only. */
static void
take_te(struct http_head *h, unsigned int place)
{
	if (h->kind != HTTP_REQUEST || is_old_request(h) ||
		!http_list_has(h->field[place].value, STR("trailers")) ||
		http_set_value(h, place, STR("trailers")) < 0)
		http_drop(h, place);
}

/* Drops Upgrade where no upgrade is asked for. A rule may put it into a response alone. */
static void
drop_upgrade(struct http_head *h)
{
	for (int i = http_find_id(h, HTTP_F_UPGRADE, 0); i >= 0;
		i = http_find_id(h, HTTP_F_UPGRADE, (unsigned int)i + 1))
		if (h->kind == HTTP_REQUEST || h->field[i].arrived)
			http_drop(h, (unsigned int)i);
}

#define BIT(id) ((uint64_t)1 << HTTP_F_##id)

unsigned int
http_strip_hop(struct http_head *h, int keeps_proxy)
{
	const uint64_t taken = BIT(CONNECTION) | BIT(UPGRADE) | BIT(HTTP2_SETTINGS) | BIT(TE) |
		BIT(KEEP_ALIVE) | BIT(PROXY_CONNECTION);
	unsigned int options = 0;

	if (!(h->had & taken))
		return 0;
	for (unsigned int i = 0; i < h->n; i++) {
		if (h->field[i].dropped)
			continue;
		switch (h->field[i].id) {
		case HTTP_F_CONNECTION:
			options |= take_connection(h, i);
			break;
		case HTTP_F_UPGRADE:
			options |= take_upgrade(h, i);
			break;
		case HTTP_F_HTTP2_SETTINGS:
			http_drop(h, i);
			break;
		case HTTP_F_TE:
			take_te(h, i);
			break;
		case HTTP_F_KEEP_ALIVE:
			if (h->field[i].arrived)
				http_drop(h, i);
			break;
		case HTTP_F_PROXY_CONNECTION:
			if (h->field[i].arrived && !keeps_proxy)
				http_drop(h, i);
			break;
		default:
			break;
		}
	}
	if ((options & HTTP_HOP_UPGRADE) && !(options & HTTP_HOP_SWITCH)) {
		drop_upgrade(h);
		options &= ~(unsigned int)HTTP_HOP_UPGRADE;
	}
	return options;
}
