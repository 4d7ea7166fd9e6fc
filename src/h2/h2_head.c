/* Decodes field blocks into heads. Texts are copied to the caller's place as they are decoded;
 * control data is put in order there once all pseudo-header fields are known. Pure. */
#include "h2/h2_head.h"

#include <string.h>

#include "base/err.h"
#include "http/scan.h"
#include "http/target.h"
#include "http/validate.h"

/* The start line and the end of a head of HTTP/1 take no more beside its texts. */
#define LINE_ROOM 32

/* Pseudo-header fields, in the order in which a target is made of them. */
enum pseudo { P_METHOD, P_SCHEME, P_AUTHORITY, P_PATH, P_PROTOCOL, P_STATUS, PSEUDOS };

static const struct str pseudo_names[PSEUDOS] = {
	[P_METHOD] = { ":method", 7 },
	[P_SCHEME] = { ":scheme", 7 },
	[P_AUTHORITY] = { ":authority", 10 },
	[P_PATH] = { ":path", 5 },
	[P_PROTOCOL] = { ":protocol", 9 },
	[P_STATUS] = { ":status", 7 },
};

/* The pseudo-header fields of a kind of head, as bits. */
static const unsigned int pseudo_of_kind[] = {
	[HTTP_REQUEST] = 1u << P_METHOD | 1u << P_SCHEME | 1u << P_AUTHORITY | 1u << P_PATH |
		1u << P_PROTOCOL,
	[HTTP_RESPONSE] = 1u << P_STATUS,
	[HTTP_TRAILERS] = 0,
};

struct reading {
	struct http_head *h;
	struct h2_texts *to;
	unsigned int flags;
	int result;          /* 0, -ERR_INVAL or -ERR_RANGE: nothing is stored any more */
	uint8_t in_fields;   /* a field has come: no pseudo-header field may */
	char *slice[PSEUDOS]; /* NULL: not there */
	size_t len[PSEUDOS];
	struct http_field cookie; /* all crumbs so far; value.p == NULL: none */
};

/* --- texts --- */

static void
malform_head(struct reading *r, enum h2_bad why)
{
	if (r->result == 0) {
		r->result = -ERR_INVAL;
		r->to->bad = (uint8_t)why;
	}
}

/* The next n bytes of the place, or NULL: there is no room, also for `extra` bytes of HTTP/1. */
static char *
reserve_text(struct reading *r, size_t n, size_t extra)
{
	char *p = r->to->p + r->to->used;

	if (r->to->cap - r->to->used < n + extra) {
		r->result = -ERR_RANGE;
		return NULL;
	}
	r->to->used += n + extra;
	return p;
}

static char *
append_text(char *p, struct str s)
{
	if (s.len)
		memcpy(p, s.p, s.len);
	return p + s.len;
}

/* Adds a field whose texts are in place. */
static void
add_placed(struct reading *r, struct http_field f)
{
	if (r->h->n == r->h->max) {
		r->result = -ERR_RANGE;
		return;
	}
	f.id = (uint16_t)http_field_id(f.name);
	f.arrived = 1;
	r->h->field[r->h->n] = f;
	http_count_field(r->h, &f);
}

static void
add_copied(struct reading *r, const struct h2_field *f)
{
	char *p = reserve_text(r, f->name.len + f->value.len, HTTP_FIELD_EXTRA);

	if (!p)
		return;
	(void)append_text(append_text(p, f->name), f->value);
	add_placed(r, (struct http_field){ .name = { p, f->name.len },
			      .value = { p + f->name.len, f->value.len },
			      .never_indexed = f->never_indexed != 0 });
}

/* --- pseudo-header fields --- */

/* The pseudo-header field of this name, or PSEUDOS. Their lengths differ, but for three. */
static enum pseudo
pseudo_of(struct str name)
{
	enum pseudo i = PSEUDOS;

	if (name.len == 7)
		i = name.p[1] == 'm' ? P_METHOD : name.p[2] == 't' ? P_STATUS : P_SCHEME;
	else if (name.len == 5)
		i = P_PATH;
	else if (name.len == 10)
		i = P_AUTHORITY;
	else if (name.len == 9)
		i = P_PROTOCOL;
	return i != PSEUDOS && str_is(pseudo_names[i], name) ? i : PSEUDOS;
}

static void
accept_pseudo(struct reading *r, const struct h2_field *f)
{
	static const struct str after_scheme = { "://", 3 };
	struct str suffix = STR("");
	enum pseudo i = pseudo_of(f->name);

	if (i == PSEUDOS || !(pseudo_of_kind[r->h->kind] >> i & 1)) {
		malform_head(r, r->h->kind == HTTP_TRAILERS ? H2_BAD_PSEUDO_LATE
							   : H2_BAD_PSEUDO_UNKNOWN);
		return;
	}
	if (r->in_fields || r->slice[i]) {
		malform_head(r, r->in_fields ? H2_BAD_PSEUDO_LATE : H2_BAD_PSEUDO_TWICE);
		return;
	}
	if (i == P_SCHEME)
		suffix = after_scheme;
	r->slice[i] = reserve_text(r, f->value.len + suffix.len, 0);
	if (!r->slice[i])
		return;
	r->len[i] = f->value.len + suffix.len;
	(void)append_text(append_text(r->slice[i], f->value), suffix);
}

static struct str
pseudo_text(const struct reading *r, enum pseudo i)
{
	return (struct str){ r->slice[i] ? r->slice[i] : "", r->slice[i] ? r->len[i] : 0 };
}

/* Moves the n bytes at p in front of the `before` bytes that precede them, a part of those at a
 * time. */
static void
move_forward(char *p, size_t before, size_t n)
{
	char part[64];

	while (before) {
		size_t k = MIN(before, sizeof(part));

		p -= k;
		before -= k;
		memcpy(part, p, k);
		memmove(p, p + k, n);
		memcpy(p + n, part, k);
	}
}

/* Moves a pseudo-header field's text to `to`, in front of the others there. Returns its end. */
static char *
bring_text(struct reading *r, enum pseudo which, char *to)
{
	size_t before, len = r->len[which];

	if (!r->slice[which])
		return to;
	before = (size_t)(r->slice[which] - to);
	move_forward(r->slice[which], before, len);
	for (unsigned int i = 0; i < PSEUDOS; i++)
		if (r->slice[i] && r->slice[i] >= to && r->slice[i] < to + before)
			r->slice[i] += len;
	r->slice[which] = to;
	return to + len;
}

static int
scheme_is(struct str scheme, struct str expected)
{
	return scheme.len == expected.len + 3 &&
		str_is_nocase((struct str){ scheme.p, expected.len }, expected);
}

/* True if the protocol of an extended CONNECT may be asked for: rules would not see requests of
 * another HTTP in it. */
static int
protocol_is_allowed(struct str name)
{
	static const struct str others[] = { STR("h2"), STR("h3"), STR("http") };

	if (!http_name_is_valid(name))
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		if (name.len >= others[i].len &&
			str_is_nocase((struct str){ name.p, others[i].len }, others[i]))
			return 0;
	return 1;
}

static enum h2_bad
check_protocol(const struct reading *r, struct str method)
{
	if (!r->slice[P_PROTOCOL])
		return H2_BAD_NONE;
	if (!(r->flags & H2_HEAD_EXTENDED))
		return H2_BAD_PSEUDO_UNKNOWN;
	if (!str_is(method, STR("CONNECT")) || !protocol_is_allowed(pseudo_text(r, P_PROTOCOL)) ||
		!r->slice[P_AUTHORITY])
		return H2_BAD_PROTOCOL;
	return H2_BAD_NONE;
}

/* Checks the texts of a request by themselves (RFC 9113, 8.3.1 and 8.5). */
static enum h2_bad
check_pseudo(const struct reading *r)
{
	struct str method = pseudo_text(r, P_METHOD), path = pseudo_text(r, P_PATH), host, port;
	struct str scheme = pseudo_text(r, P_SCHEME), authority = pseudo_text(r, P_AUTHORITY);
	enum h2_bad bad = check_protocol(r, method);

	if (!http_name_is_valid(method))
		return H2_BAD_METHOD;
	if (bad != H2_BAD_NONE)
		return bad;
	if (r->slice[P_AUTHORITY] && (http_authority_split(authority, &host, &port) || !host.len))
		return H2_BAD_AUTHORITY;
	if (str_is(method, STR("CONNECT")) && !r->slice[P_PROTOCOL])
		return scheme.len || r->slice[P_PATH] ? H2_BAD_CONNECT : H2_BAD_NONE;
	if (!scheme_is(scheme, STR("http")) && !scheme_is(scheme, STR("https")))
		return H2_BAD_SCHEME;
	if (str_is(path, STR("*")))
		return str_is(method, STR("OPTIONS")) ? H2_BAD_NONE : H2_BAD_PATH;
	if (!path.len || path.p[0] != '/' || http_scan_target(path.p, path.len) != path.len)
		return H2_BAD_PATH;
	return H2_BAD_NONE;
}

/* Leaves out the default port of the scheme (RFC 3986, 6.2.3). */
static void
drop_default_port(struct reading *r)
{
	int is_https = scheme_is(pseudo_text(r, P_SCHEME), STR("https"));
	struct str usual = is_https ? STR("443") : STR("80"), host, port;

	if (http_authority_split(pseudo_text(r, P_AUTHORITY), &host, &port) == 0 &&
		(str_is(port, usual) || !port.len))
		r->len[P_AUTHORITY] = host.len;
}

/* Puts the texts of a request in order: method, then the target. */
static void
place_request(struct reading *r)
{
	struct http_head *h = r->h;
	char *p = bring_text(r, P_METHOD, r->to->p), *target = p;
	int is_connect;

	h->method_text = pseudo_text(r, P_METHOD);
	h->method = http_method_of(h->method_text);
	is_connect = h->method == HTTP_CONNECT && !r->slice[P_PROTOCOL];
	if (h->method == HTTP_CONNECT && !is_connect) {
		h->method_text = STR("GET");
		h->method = HTTP_GET;
	}
	if (r->slice[P_AUTHORITY]) {
		if (!is_connect)
			drop_default_port(r);
		p = bring_text(r, P_AUTHORITY, bring_text(r, P_SCHEME, p));
		if (str_is(pseudo_text(r, P_PATH), STR("*")))
			r->len[P_PATH] = 0;
	}
	p = bring_text(r, P_PATH, p);
	h->target = (struct str){ target, (size_t)(p - target) };
}

/* Adds the Host that :authority is. Its name is static: room for it is taken. */
static void
place_host(struct reading *r)
{
	struct str authority = pseudo_text(r, P_AUTHORITY), name = STR("host");
	char *p;

	if (!r->slice[P_AUTHORITY])
		return;
	p = reserve_text(r, name.len + authority.len, HTTP_FIELD_EXTRA);
	if (!p)
		return;
	(void)append_text(append_text(p, name), authority);
	add_placed(r, (struct http_field){ .name = { p, name.len },
			      .value = { p + name.len, authority.len } });
}

static void
place_status(struct reading *r)
{
	struct str s = pseudo_text(r, P_STATUS);
	unsigned int n = 0;

	for (size_t i = 0; i < s.len && i < 3; i++)
		n = http_is(s.p[i], HTTP_C_DIGIT) ? 10 * n + (unsigned int)(s.p[i] - '0') : 1000;
	/* 101 is not used in HTTP/2 (8.6). */
	if (s.len != 3 || n < 100 || n > 999 || n == 101) {
		malform_head(r, H2_BAD_STATUS);
		return;
	}
	if (n < 200 && (r->flags & H2_HEAD_ENDED))
		malform_head(r, H2_BAD_INTERIM_END);
	r->h->status = n;
	r->h->reason = STR("");
}

/* Called once all pseudo-header fields have come. */
static void
end_pseudo(struct reading *r)
{
	enum h2_bad bad;

	r->in_fields = 1;
	if (r->result)
		return;
	if (r->h->kind == HTTP_RESPONSE)
		place_status(r);
	if (r->h->kind != HTTP_REQUEST)
		return;
	bad = check_pseudo(r);
	if (bad != H2_BAD_NONE) {
		malform_head(r, bad);
		return;
	}
	place_request(r);
	place_host(r);
}

/* --- fields --- */

/* Host beside :authority is left out; alone it may be repeated (8.3.1). */
static void
accept_host(struct reading *r, const struct h2_field *f)
{
	struct str host, port;
	int first;

	if (r->h->kind == HTTP_REQUEST && r->slice[P_AUTHORITY])
		return;
	first = http_find_id(r->h, HTTP_F_HOST, 0);
	if (http_authority_split(f->value, &host, &port) || !host.len ||
		(first >= 0 && !str_is(r->h->field[first].value, f->value)))
		malform_head(r, H2_BAD_HOST);
	else if (first < 0)
		add_copied(r, f);
}

/* Equal lengths are one (RFC 9110, 8.6). */
static void
accept_length(struct reading *r, const struct h2_field *f)
{
	int first = http_find_id(r->h, HTTP_F_CONTENT_LENGTH, 0);
	uint64_t n;

	if (http_length_of(f->value, &n) ||
		(first >= 0 && !str_is(r->h->field[first].value, f->value)))
		malform_head(r, H2_BAD_LENGTH);
	else if (first < 0)
		add_copied(r, f);
}

/* Joins crumbs with "; " in the order in which they came (8.2.3). */
static void
accept_cookie(struct reading *r, const struct h2_field *f)
{
	static const struct str between = { "; ", 2 };
	struct str *v = &r->cookie.value;
	size_t more = between.len + f->value.len;
	char *p;

	if (!v->p) {
		add_copied(r, f);
		if (r->result)
			return;
		/* The last field of all: end_fields() adds it. */
		r->cookie = r->h->field[--r->h->n];
		return;
	}
	if (f->never_indexed)
		r->cookie.never_indexed = 1;
	if (v->p + v->len + HTTP_FIELD_EXTRA == r->to->p + r->to->used) {
		if (!reserve_text(r, more, 0))
			return;
		p = r->to->p + (v->p + v->len - r->to->p);
	} else {
		/* Other fields stand behind it: all of it moves. */
		char *moved = reserve_text(r, v->len + more, HTTP_FIELD_EXTRA);

		if (!moved)
			return;
		p = append_text(moved, *v);
		v->p = moved;
	}
	(void)append_text(append_text(p, between), f->value);
	v->len += more;
}

static void
accept_te(struct reading *r, const struct h2_field *f)
{
	if (str_is_nocase(f->value, STR("trailers")))
		add_copied(r, f);
	else
		malform_head(r, H2_BAD_TE);
}

/* Adds a trailer. Those that would mean something in a head are left out: recipients may merge
 * both (RFC 9110, 6.5.1). */
static void
accept_trailer(struct reading *r, const struct h2_field *f, enum http_field_id id)
{
	if (id == HTTP_F_CONTENT_LENGTH || id == HTTP_F_HOST || id == HTTP_F_TE)
		malform_head(r, H2_BAD_TRAILER);
	else if (!http_is_forbidden_trailer(f->name))
		add_copied(r, f);
}

/* A name in lower case, a value without a blank at its ends (8.2.1). */
static enum h2_bad
check_texts(const struct h2_field *f)
{
	struct str v = f->value;

	if (!f->name.len || http_scan_lower(f->name.p, f->name.len) != f->name.len)
		return H2_BAD_FIELD_NAME;
	if (!http_value_is_valid(v) ||
		(v.len && (str_is_blank(v.p[0]) || str_is_blank(v.p[v.len - 1]))))
		return H2_BAD_FIELD_VALUE;
	return H2_BAD_NONE;
}

static void
accept_field(struct reading *r, const struct h2_field *f)
{
	enum h2_bad bad = check_texts(f);
	enum http_field_id id = http_field_id(f->name);

	if (bad != H2_BAD_NONE) {
		malform_head(r, bad);
		return;
	}
	if (id == HTTP_F_CONNECTION || id == HTTP_F_PROXY_CONNECTION || id == HTTP_F_KEEP_ALIVE ||
		id == HTTP_F_TRANSFER_ENCODING || id == HTTP_F_UPGRADE)
		malform_head(r, H2_BAD_CONNECTION);
	else if (r->h->kind == HTTP_TRAILERS)
		accept_trailer(r, f, id);
	else if (id == HTTP_F_HOST)
		accept_host(r, f);
	else if (id == HTTP_F_CONTENT_LENGTH)
		accept_length(r, f);
	else if (id == HTTP_F_COOKIE)
		accept_cookie(r, f);
	else if (id == HTTP_F_TE)
		accept_te(r, f);
	else
		add_copied(r, f);
}

static void
on_block_field(void *ctx, const struct h2_field *f)
{
	struct reading *r = ctx;

	if (r->result == -ERR_INVAL)
		return;
	if (f->name.len && f->name.p[0] == ':') {
		if (!r->result)
			accept_pseudo(r, f);
		return;
	}
	if (!r->in_fields)
		end_pseudo(r);
	if (!r->result)
		accept_field(r, f);
}

/* --- the end --- */

/* Adds the fields of HTTP/1 that ask for another protocol, or agree to it. */
static void
add_upgrade(struct reading *r, struct str protocol)
{
	const struct h2_field upgrade = { STR("upgrade"), protocol, 0 };
	const struct h2_field connection = { STR("connection"), STR("upgrade"), 0 };

	add_copied(r, &upgrade);
	if (!r->result)
		add_copied(r, &connection);
}

/* True if what follows a head is no message any more. */
static int
head_opens_tunnel(const struct reading *r)
{
	const struct http_head *h = r->h;

	if (h->kind == HTTP_REQUEST)
		return h->method == HTTP_CONNECT || r->to->extended;
	return h->status / 100 == 2 &&
		(h->method == HTTP_CONNECT || (r->flags & H2_HEAD_EXTENDED));
}

static int
response_has_no_body(const struct http_head *h)
{
	return h->kind == HTTP_RESPONSE && (h->status < 200 || h->status == 204 ||
		h->status == 304 || h->method == HTTP_HEAD);
}

/* The body that follows, and whether END_STREAM fits what the head says of it (8.1.1). A tunnel has
 * no content, whatever its length says (RFC 9110, 9.3.6). */
static void
decide_framing(struct reading *r)
{
	struct http_head *h = r->h;
	int ended = r->flags & H2_HEAD_ENDED, tunnel = head_opens_tunnel(r), at;

	if (tunnel)
		http_drop_id(h, HTTP_F_CONTENT_LENGTH);
	at = http_find_id(h, HTTP_F_CONTENT_LENGTH, 0);
	h->framing = ended ? HTTP_BODY_NONE : HTTP_BODY_CHUNKED;
	if (at >= 0 && http_length_of(h->field[at].value, &h->length) == 0)
		h->framing = HTTP_BODY_LENGTH;
	/* Either half of a tunnel may end with the head that opens it (RFC 9113, 8.5). */
	if (tunnel &&
		(!ended || h->kind == HTTP_REQUEST || !(r->flags & H2_HEAD_EXTENDED)))
		h->framing = HTTP_BODY_TUNNEL;
	else if (response_has_no_body(h))
		h->framing = HTTP_BODY_NONE;
	if (tunnel && !ended && h->kind == HTTP_RESPONSE && (r->flags & H2_HEAD_EXTENDED)) {
		h->status = 101;
		add_upgrade(r, STR("websocket"));
	}
	if (ended && h->framing == HTTP_BODY_LENGTH && h->length)
		malform_head(r, H2_BAD_LENGTH);
}

/* Names the reason for which the rules of all versions refuse a head. */
static enum h2_bad
reason_of(enum http_bad bad, const struct http_head *h)
{
	if (bad == HTTP_BAD_HOST)
		return H2_BAD_AUTHORITY;
	return h->method == HTTP_CONNECT ? H2_BAD_CONNECT : H2_BAD_LENGTH;
}

static void
end_fields(struct reading *r)
{
	struct http_head *h = r->h;
	struct str authority;
	enum http_bad bad;

	if (!r->in_fields)
		end_pseudo(r);
	if (r->result == 0 && r->slice[P_PROTOCOL]) {
		r->to->extended = 1;
		add_upgrade(r, pseudo_text(r, P_PROTOCOL));
	}
	if (r->result == 0 && r->cookie.value.p) {
		/* An empty crumb at the end leaves a blank. */
		r->cookie.value = str_trim(r->cookie.value);
		add_placed(r, r->cookie);
	}
	if (r->result || h->kind == HTTP_TRAILERS)
		return;
	if (h->kind == HTTP_REQUEST && (http_find_id(h, HTTP_F_HOST, 0) < 0 ||
		http_target_form(h->method, h->target, &authority) == HTTP_FORM_NONE)) {
		malform_head(r, h->method == HTTP_CONNECT ? H2_BAD_CONNECT : H2_BAD_AUTHORITY);
		return;
	}
	bad = http_validate_head(h);
	if (bad != HTTP_BAD_NONE)
		malform_head(r, reason_of(bad, h));
	decide_framing(r);
}

int
h2_head_decode(struct h2_hpack *hp, const uint8_t *block, size_t len, unsigned int flags,
	struct http_head *h, struct h2_texts *to)
{
	struct reading r = { .h = h, .to = to, .flags = flags };
	int rc;

	h->version = HTTP_2;
	h->n = 0;
	to->used = to->extended = to->bad = 0;
	rc = h2_hpack_decode(hp, block, len, on_block_field, &r);
	if (rc < 0)
		return rc;
	end_fields(&r);
	if (r.result == 0 && !reserve_text(&r, 0, LINE_ROOM))
		return -ERR_RANGE;
	return r.result;
}

static void
drop_field(void *ctx, const struct h2_field *f)
{
	(void)ctx;
	(void)f;
}

int
h2_head_skip(struct h2_hpack *hp, const uint8_t *block, size_t len)
{
	return h2_hpack_decode(hp, block, len, drop_field, NULL);
}

static const struct {
	const char *section, *text;
} bads[H2_BADS] = {
#define H2_BAD_ROW(id, section, text) [H2_BAD_##id] = { section, text },
#include "h2/h2_bad.tbl.h"
#undef H2_BAD_ROW
};

const char *
h2_bad_section(enum h2_bad bad)
{
	return bads[bad].section;
}

const char *
h2_bad_text(enum h2_bad bad)
{
	return bads[bad].text;
}
