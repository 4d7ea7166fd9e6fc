/* The bytes that a health check sends. Pure. An HTTP request is written as HAProxy writes it: names
 * of fields in lower case, then the fields that framing and the end of the connection need. */
#include "proxy/check/check_send.h"

#include <ctype.h>
#include <string.h>

#include "base/err.h"
#include "base/str.h"
#include "http/head.h"
#include "rule/sample/fmt.h"

/* --- bytes --- */

int
check_unhex(struct sbuf *b, size_t from)
{
	size_t n = b->len - from;

	if (n % 2)
		return -ERR_SYNTAX;
	for (size_t i = 0; i < n; i += 2) {
		int hi = str_hex_digit(b->p[from + i]), lo = str_hex_digit(b->p[from + i + 1]);

		if (hi < 0 || lo < 0)
			return -ERR_SYNTAX;
		b->p[from + i / 2] = (char)(hi << 4 | lo);
	}
	b->len = from + n / 2;
	b->p[b->len] = '\0';
	return 0;
}

static void
write_data(const struct check_text *t, struct sample_ctx *cx, struct sbuf *out)
{
	if (t->fmt)
		rule_fmt_write(t->fmt, cx, out);
	else if (t->len)
		sbuf_add(out, t->p, t->len);
}

static int
build_tcp(const struct check_send *s, struct sample_ctx *cx, struct sbuf *out)
{
	size_t from = out->len;

	write_data(&s->data, cx, out);
	if (out->failed)
		return -ERR_RANGE;
	return s->hex ? check_unhex(out, from) : 0;
}

/* --- HTTP --- */

/* A request while it is written. */
struct request {
	const struct check_send *s;
	struct sample_ctx *cx;
	struct sbuf *out;
	struct str method, version, uri, body;
	struct str state_header;
	int has_connection;      /* there is a Connection field */
	int closes, upgrades;    /* it lists close, upgrade */
	int is_h2;               /* it becomes one of HTTP/2 */
};

/* Methods whose requests have no body unless one is given; all others announce an empty one. */
static int
is_bodiless(struct str method)
{
	static const struct str all[] = { { "GET", 3 }, { "HEAD", 4 }, { "OPTIONS", 7 },
		{ "DELETE", 6 } };

	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if (str_is(all[i], method))
			return 1;
	return 0;
}

/* "HTTP/1.1" and above. Other texts are sent as they are. */
static int
is_1_1(struct str v)
{
	if (v.len != 8 || memcmp(v.p, "HTTP/", 5) != 0 || !isdigit((unsigned char)v.p[5]) ||
		v.p[6] != '.' || !isdigit((unsigned char)v.p[7]))
		return 0;
	return v.p[5] > '1' || (v.p[5] == '1' && v.p[7] >= '1');
}

static void
write_field(struct request *r, struct str name, struct str value)
{
	for (size_t i = 0; i < name.len; i++)
		sbuf_addc(r->out, str_lower(name.p[i]));
	sbuf_adds(r->out, ": ");
	sbuf_add(r->out, value.p, value.len);
	sbuf_adds(r->out, "\r\n");
}

/* Connection: close and keep-alive are written at the end, by what the version needs. */
static void
write_connection(struct request *r, struct str value)
{
	const char *separator = "connection: ";
	struct str option;

	r->has_connection = 1;
	while (http_list_next(&value, &option)) {
		if (str_is_nocase(option, STR("close"))) {
			r->closes = 1;
			continue;
		}
		if (str_is_nocase(option, STR("keep-alive")))
			continue;
		r->upgrades |= str_is_nocase(option, STR("upgrade"));
		sbuf_adds(r->out, separator);
		sbuf_add(r->out, option.p, option.len);
		separator = ", ";
	}
	if (*separator == ',')
		sbuf_adds(r->out, "\r\n");
}

/* The fields that frame the body are made from it. An empty value is not sent. */
static void
write_any_field(struct request *r, struct str name, struct str value)
{
	if (value.len == 0 || str_is_nocase(name, STR("content-length")) ||
		str_is_nocase(name, STR("transfer-encoding")))
		return;
	if (str_is_nocase(name, STR("connection")))
		write_connection(r, value);
	else
		write_field(r, name, value);
}

/* --- fields of the rule, or those behind the version of option httpchk --- */

/* The line at *rest, without its end. 0: an empty line, or no more. */
static int
next_raw_line(struct str *rest, struct str *line)
{
	const char *end = rest->len ? memchr(rest->p, '\n', rest->len) : NULL;
	size_t n = end ? (size_t)(end - rest->p) : rest->len;

	*line = (struct str){ rest->p, n };
	rest->p += end ? n + 1 : n;
	rest->len -= end ? n + 1 : n;
	if (line->len && line->p[line->len - 1] == '\r')
		line->len--;
	return line->len > 0;
}

static struct str
raw_of(const struct check_send *s)
{
	return s->request && s->request->raw ? str_of(s->request->raw) : (struct str){ "", 0 };
}

static void
write_raw_fields(struct request *r)
{
	struct str rest = raw_of(r->s), line;

	while (next_raw_line(&rest, &line)) {
		const char *colon = memchr(line.p, ':', line.len);
		struct str name = { line.p, colon ? (size_t)(colon - line.p) : line.len };

		if (colon)
			write_any_field(r, name,
				str_trim((struct str){ colon + 1, line.len - name.len - 1 }));
	}
}

/* The bytes behind the empty line. */
static struct str
raw_body(const struct check_send *s)
{
	struct str rest = raw_of(s), line;

	while (next_raw_line(&rest, &line))
		;
	return rest;
}

/* The value of a field, in the arena. */
static int
header_value(const struct check_header *h, struct sample_ctx *cx, struct str *out)
{
	return rule_fmt_text(h->value, cx, out) < 0 ? -ERR_RANGE : 0;
}

static int
write_fields(struct request *r)
{
	const struct check_send *s = r->s;

	if (s->n_headers == 0)
		write_raw_fields(r);
	for (unsigned int i = 0; i < s->n_headers; i++) {
		struct str value;

		if (header_value(&s->headers[i], r->cx, &value) < 0)
			return -ERR_RANGE;
		write_any_field(r, str_of(s->headers[i].name), value);
	}
	if (r->state_header.len)
		write_field(r, STR("x-haproxy-server-state"), r->state_header);
	return 0;
}

static void
write_ending_fields(struct request *r)
{
	if (r->body.len || !is_bodiless(r->method))
		sbuf_addf(r->out, "content-length: %zu\r\n", r->body.len);
	if (r->is_h2)
		return;
	if (is_1_1(r->version) && (r->closes || !r->has_connection))
		sbuf_adds(r->out, "connection: close\r\n");
	if (!is_1_1(r->version) && r->has_connection && !r->closes && !r->upgrades)
		sbuf_adds(r->out, "connection: keep-alive\r\n");
}

/* --- the request line --- */

int
check_send_host(const struct check_send *s, struct sample_ctx *cx, struct str *out)
{
	struct str rest = raw_of(s), line;

	*out = (struct str){ NULL, 0 };
	for (unsigned int i = 0; i < s->n_headers; i++)
		if (str_is_nocase(str_of(s->headers[i].name), STR("host")))
			return header_value(&s->headers[i], cx, out);
	while (s->n_headers == 0 && next_raw_line(&rest, &line))
		if (line.len > 5 && str_is_nocase((struct str){ line.p, 5 }, STR("host:")))
			*out = str_trim((struct str){ line.p + 5, line.len - 5 });
	return 0;
}

/* The authority of an absolute target, or of CONNECT, is that of Host. */
static void
write_target(struct request *r, struct str host)
{
	struct str uri = r->uri;
	const char *scheme, *path, *end;

	end = uri.len ? memchr(uri.p, '#', uri.len) : NULL;
	if (end)
		uri.len = (size_t)(end - uri.p);
	if (host.len && str_is(r->method, STR("CONNECT"))) {
		sbuf_add(r->out, host.p, host.len);
		return;
	}
	scheme = host.len ? memmem(uri.p, uri.len, "://", 3) : NULL;
	if (!scheme || uri.p[0] == '/') {
		sbuf_add(r->out, uri.p, uri.len);
		return;
	}
	scheme += 3;
	end = uri.p + uri.len;
	path = memchr(scheme, '/', (size_t)(end - scheme));
	sbuf_add(r->out, uri.p, (size_t)(scheme - uri.p));
	sbuf_add(r->out, host.p, host.len);
	if (path)
		sbuf_add(r->out, path, (size_t)(end - path));
}

static int
text_in_arena(const struct check_text *t, struct sample_ctx *cx, struct str *out)
{
	if (t->fmt)
		return rule_fmt_text(t->fmt, cx, out) < 0 ? -ERR_RANGE : 0;
	*out = (struct str){ t->p, t->len };
	return 0;
}

static struct str
first_text(const char *own, const char *of_backend, const char *built_in)
{
	return str_of(own ? own : of_backend ? of_backend : built_in);
}

static int
fill_request(struct request *r)
{
	static const struct check_request none = { NULL, NULL, NULL, NULL };
	const struct check_send *s = r->s;
	const struct check_request *of = s->request ? s->request : &none;

	r->method = first_text(s->method, of->method, "OPTIONS");
	r->version = first_text(s->version, of->version, "HTTP/1.0");
	r->uri = first_text(NULL, of->uri, "/");
	r->body = raw_body(s);
	if ((s->uri.p || s->uri.fmt) && text_in_arena(&s->uri, r->cx, &r->uri) < 0)
		return -ERR_RANGE;
	if ((s->body.p || s->body.fmt) && text_in_arena(&s->body, r->cx, &r->body) < 0)
		return -ERR_RANGE;
	return 0;
}

static int
write_check_request(struct request *r)
{
	struct str host;
	int rc = fill_request(r);

	if (rc == 0)
		rc = check_send_host(r->s, r->cx, &host);
	if (rc < 0)
		return rc;
	sbuf_add(r->out, r->method.p, r->method.len);
	sbuf_addc(r->out, ' ');
	write_target(r, host);
	sbuf_addc(r->out, ' ');
	if (r->is_h2)
		sbuf_adds(r->out, "HTTP/1.0\r\n");
	else if (is_1_1(r->version))
		sbuf_adds(r->out, "HTTP/1.1\r\n");
	else
		sbuf_addf(r->out, "%.*s\r\n", (int)r->version.len, r->version.p);
	rc = write_fields(r);
	write_ending_fields(r);
	sbuf_adds(r->out, "\r\n");
	sbuf_add(r->out, r->body.p, r->body.len);
	return rc;
}

static int
build_http(const struct check_send *s, struct sample_ctx *cx, struct str state_header,
	int is_h2, struct sbuf *out)
{
	struct request r = { .s = s, .cx = cx, .out = out, .state_header = state_header,
		.is_h2 = is_h2 };
	size_t mark = arena_mark(cx->arena);
	int rc = write_check_request(&r);

	arena_release(cx->arena, mark);
	return rc == 0 && out->failed ? -ERR_RANGE : rc;
}

int
check_send_build(const struct check_send *s, struct sample_ctx *cx, struct str state_header,
	int is_h2, struct sbuf *out)
{
	return s->is_http ? build_http(s, cx, state_header, is_h2, out) : build_tcp(s, cx, out);
}
