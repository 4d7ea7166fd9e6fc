/* The reader of HTTP/1 heads. Pure: the caller keeps the state. Lines that are here in
 * full are parsed at once; the states are for lines of which a part is missing or wrong. */
#include "http/h1_parse.h"

#include "http/h1_framing.h"
#include "http/validate.h"
#include "http/scan.h"
#include "http/target.h"

/* Position of the next byte in a head. Each state consumes at least one byte. */
enum state {
	START,       /* the first byte; a request may have a CRLF before it, which is skipped */
	START_LF,
	METHOD,
	TARGET,
	VERSION,     /* its eight bytes */
	VERSION_END,
	STATUS,      /* its three digits */
	STATUS_END,
	REASON,
	LINE_LF,     /* the LF of the start line */
	FIELD,       /* the first byte of a line: of a field, or the final CR */
	NAME,
	VALUE,
	VALUE_LF,
	END_LF,
	DONE
};

#define VERSION_LEN 8
#define STATUS_LEN 3

struct work {
	struct h1_parser *p;
	const char *buf;
	uint32_t len;
	struct http_head *h;
};

/* --- steps: MORE bytes, BAD, or COMPLETE, which lets the next step have its turn --- */

static enum h1_parse_status
enter_state(struct work *w, enum state next)
{
	w->p->state = (uint8_t)next;
	return HTTP_COMPLETE;
}

static enum h1_parse_status
bad_at(struct work *w, enum http_bad why, uint32_t at)
{
	w->p->bad = (uint16_t)why;
	w->p->bad_at = at;
	return HTTP_BAD;
}

/* The current byte is not allowed here. */
static enum h1_parse_status
bad_byte(struct work *w, enum http_bad why)
{
	if (w->buf[w->p->at] == '\n')
		why = HTTP_BAD_LINE_END;
	return bad_at(w, why, w->p->at);
}

/* The current byte must be this one. */
static enum h1_parse_status
head_expect(struct work *w, char c, enum state next, enum http_bad otherwise)
{
	if (w->buf[w->p->at] != c)
		return bad_byte(w, otherwise);
	w->p->at++;
	return enter_state(w, next);
}

static struct str
head_slice(const struct work *w, uint32_t from, uint32_t to)
{
	return (struct str){ w->buf + from, to - from };
}

/* --- the start line --- */

/* True for a version of HTTP/1 in front of this byte. */
static int
is_version(const char *p, char behind)
{
	return memcmp(p, "HTTP/1.", VERSION_LEN - 1) == 0 &&
		http_is(p[VERSION_LEN - 1], HTTP_C_DIGIT) && p[VERSION_LEN] == behind;
}

static enum http_version
version_of(const char *p)
{
	return p[VERSION_LEN - 1] == '0' ? HTTP_1_0 : HTTP_1_1;
}

/* Parses a request line that is here in full and has no error: its bytes. 0: the steps parse it. */
static uint32_t
whole_request_line(struct http_head *h, const char *p, size_t len)
{
	size_t method = http_scan_token(p, len), from = method + 1, end;
	struct str authority;

	if (!method || from >= len || p[method] != ' ')
		return 0;
	end = from + http_scan_target(p + from, len - from);
	if (len - end < 1 + VERSION_LEN + 2 || p[end] != ' ' || !is_version(p + end + 1, '\r') ||
		p[end + VERSION_LEN + 2] != '\n')
		return 0;
	h->method_text = (struct str){ p, method };
	h->method = http_method_of(h->method_text);
	h->target = (struct str){ p + from, end - from };
	h->version = version_of(p + end + 1);
	if (http_target_form(h->method, h->target, &authority) == HTTP_FORM_NONE)
		return 0;
	return (uint32_t)(end + 1 + VERSION_LEN + 2);
}

/* The same for the first line of a response. */
static uint32_t
whole_status_line(struct http_head *h, const char *p, size_t len)
{
	const char *digit = p + VERSION_LEN + 1;
	size_t from = VERSION_LEN + 1 + STATUS_LEN + 1, end;

	if (len <= from || !is_version(p, ' ') || !http_is(digit[0], HTTP_C_DIGIT) ||
		digit[0] == '0' || !http_is(digit[1], HTTP_C_DIGIT) ||
		!http_is(digit[2], HTTP_C_DIGIT) || digit[STATUS_LEN] != ' ')
		return 0;
	end = from + http_scan_value(p + from, len - from);
	if (len - end < 2 || p[end] != '\r' || p[end + 1] != '\n')
		return 0;
	h->version = version_of(p);
	h->status = 100 * (unsigned int)(digit[0] - '0') + 10 * (unsigned int)(digit[1] - '0') +
		(unsigned int)(digit[2] - '0');
	h->reason = (struct str){ p + from, end - from };
	return (uint32_t)(end + 2);
}

static enum h1_parse_status
on_start(struct work *w)
{
	struct h1_parser *p = w->p;
	uint32_t n = w->h->kind == HTTP_REQUEST ?
		whole_request_line(w->h, w->buf + p->at, w->len - p->at) :
		whole_status_line(w->h, w->buf + p->at, w->len - p->at);

	p->at += n;
	if (n)
		return enter_state(w, FIELD);
	if (w->h->kind == HTTP_RESPONSE)
		return enter_state(w, VERSION);
	if (w->buf[w->p->at] == '\r')
		return head_expect(w, '\r', START_LF, HTTP_BAD_LINE_END);
	w->p->line = w->p->at;
	return enter_state(w, METHOD);
}

static enum h1_parse_status
on_start_lf(struct work *w)
{
	enum h1_parse_status v = head_expect(w, '\n', METHOD, HTTP_BAD_LINE_END);

	w->p->line = w->p->at;
	return v;
}

static enum h1_parse_status
on_method(struct work *w)
{
	struct h1_parser *p = w->p;

	p->at += (uint32_t)http_scan_token(w->buf + p->at, w->len - p->at);
	if (p->at == w->len)
		return HTTP_MORE;
	if (p->at == p->line)
		return bad_byte(w, w->buf[p->at] == '\r' ? HTTP_BAD_REQUEST_LINE : HTTP_BAD_METHOD);
	if (w->buf[p->at] != ' ')
		return bad_byte(w, HTTP_BAD_METHOD);
	w->h->method_text = head_slice(w, p->line, p->at);
	w->h->method = http_method_of(w->h->method_text);
	p->at++;
	return enter_state(w, TARGET);
}

static enum h1_parse_status
on_target(struct work *w)
{
	struct h1_parser *p = w->p;
	uint32_t from = p->line + (uint32_t)w->h->method_text.len + 1;

	p->at += (uint32_t)http_scan_target(w->buf + p->at, w->len - p->at);
	if (p->at == w->len)
		return HTTP_MORE;
	/* A second blank, or no version: HTTP/0.9. */
	if (w->buf[p->at] == '\r' || p->at == from)
		return bad_byte(w, HTTP_BAD_REQUEST_LINE);
	if (w->buf[p->at] != ' ')
		return bad_byte(w, HTTP_BAD_TARGET);
	w->h->target = head_slice(w, from, p->at);
	p->at++;
	return enter_state(w, VERSION);
}

static uint32_t
version_at(const struct h1_parser *p, const struct http_head *h)
{
	if (h->kind == HTTP_RESPONSE)
		return p->line;
	return p->line + (uint32_t)(h->method_text.len + 1 + h->target.len + 1);
}

/* Parses a version. Major versions other than 1 are other protocols; a higher minor version is
 * treated as 1.1 (RFC 9110, 2.5). */
static enum h1_parse_status
on_version(struct work *w)
{
	static const char pattern[VERSION_LEN + 1] = "HTTP/d.d";
	struct h1_parser *p = w->p;
	int is_request = w->h->kind == HTTP_REQUEST;
	uint32_t from = version_at(p, w->h);

	for (; p->at < w->len && p->at - from < VERSION_LEN; p->at++) {
		char want = pattern[p->at - from], c = w->buf[p->at];

		if (want == 'd' ? !http_is(c, HTTP_C_DIGIT) : c != want)
			return bad_byte(
				w, is_request ? HTTP_BAD_REQUEST_LINE : HTTP_BAD_STATUS_LINE);
	}
	if (p->at - from < VERSION_LEN)
		return HTTP_MORE;
	if (w->buf[from + 5] != '1')
		return bad_at(w, HTTP_BAD_VERSION, from);
	w->h->version = version_of(w->buf + from);
	return enter_state(w, VERSION_END);
}

static enum h1_parse_status
on_version_end(struct work *w)
{
	if (w->h->kind == HTTP_REQUEST)
		return head_expect(w, '\r', LINE_LF, HTTP_BAD_REQUEST_LINE);
	return head_expect(w, ' ', STATUS, HTTP_BAD_STATUS_LINE);
}

static enum h1_parse_status
on_status_code(struct work *w)
{
	struct h1_parser *p = w->p;
	uint32_t from = p->line + VERSION_LEN + 1;

	for (; p->at < w->len && p->at - from < STATUS_LEN; p->at++) {
		char c = w->buf[p->at];

		if (!http_is(c, HTTP_C_DIGIT) || (c == '0' && p->at == from))
			return bad_byte(w, HTTP_BAD_STATUS_LINE);
		w->h->status = 10 * w->h->status + (unsigned int)(c - '0');
	}
	return p->at - from < STATUS_LEN ? HTTP_MORE : enter_state(w, STATUS_END);
}

/* Ends a status line without a reason phrase. Many servers omit the blank before an empty one,
 * which is harmless. */
static enum h1_parse_status
on_status_end(struct work *w)
{
	w->h->reason = STR("");
	if (w->buf[w->p->at] == '\r')
		return head_expect(w, '\r', LINE_LF, HTTP_BAD_STATUS_LINE);
	return head_expect(w, ' ', REASON, HTTP_BAD_STATUS_LINE);
}

static enum h1_parse_status
on_reason(struct work *w)
{
	struct h1_parser *p = w->p;

	p->at += (uint32_t)http_scan_value(w->buf + p->at, w->len - p->at);
	if (p->at == w->len)
		return HTTP_MORE;
	w->h->reason = head_slice(w, p->line + VERSION_LEN + 1 + STATUS_LEN + 1, p->at);
	return head_expect(w, '\r', LINE_LF, HTTP_BAD_STATUS_LINE);
}

static enum h1_parse_status
on_line_lf(struct work *w)
{
	struct http_head *h = w->h;
	struct str authority;
	enum h1_parse_status v = head_expect(w, '\n', FIELD, HTTP_BAD_LINE_END);

	if (v == HTTP_COMPLETE && h->kind == HTTP_REQUEST &&
		http_target_form(h->method, h->target, &authority) == HTTP_FORM_NONE)
		return bad_at(w, HTTP_BAD_TARGET, (uint32_t)(h->target.p - w->buf));
	return v;
}

/* --- fields --- */

static inline void
name_field(struct http_field *f, struct str name)
{
	f->name = name;
	f->id = (uint16_t)http_field_id(name);
	f->dropped = f->is_line = 0;
	f->arrived = 1;
	f->never_indexed = 0;
}

/* Parses one line that is here in full and has no error. Its end; NULL: the steps parse it. */
static const char *
whole_field(struct http_head *h, const char *p, const char *end)
{
	struct http_field *f = &h->field[h->n];
	const char *colon = p + http_scan_token(p, (size_t)(end - p)), *value, *cr;

	if (colon == p || end - colon < 2 || *colon != ':')
		return NULL;
	value = colon + 1 + (colon[1] == ' ');
	cr = value + http_scan_value(value, (size_t)(end - value));
	if (end - cr < 2 || cr[0] != '\r' || cr[1] != '\n')
		return NULL;
	name_field(f, (struct str){ p, (size_t)(colon - p) });
	f->value = (struct str){ value, (size_t)(cr - value) };
	f->is_line = value == colon + 2;
	if (value < cr && (str_is_blank(*value) || str_is_blank(cr[-1]))) {
		f->value = str_trim(f->value);
		f->is_line = 0;
	}
	if (http_validate_field(h, f) != HTTP_BAD_NONE)
		return NULL;
	http_count_field(h, f);
	return cr + 2;
}

/* A field line goes through the steps only when a part of it is missing or wrong. */
static void
whole_fields(struct work *w)
{
	const char *p = w->buf + w->p->at, *end = w->buf + w->len, *next = p;
	struct http_head *h = w->h;

	while (next && h->n < h->max) {
		next = whole_field(h, p, end);
		p = next ? next : p;
	}
	w->p->at = (uint32_t)(p - w->buf);
}

static enum h1_parse_status
on_field(struct work *w)
{
	struct h1_parser *p = w->p;
	char c;

	whole_fields(w);
	if (p->at == w->len)
		return HTTP_MORE;
	c = w->buf[p->at];
	if (c == '\r')
		return head_expect(w, '\r', END_LF, HTTP_BAD_LINE_END);
	if (c == ' ' || c == '\t')
		return bad_byte(w, HTTP_BAD_FOLD);
	if (w->h->n == w->h->max)
		return bad_byte(w, HTTP_BAD_FIELDS);
	p->line = p->at;
	return enter_state(w, NAME);
}

static enum h1_parse_status
on_name(struct work *w)
{
	struct h1_parser *p = w->p;
	struct http_field *f = &w->h->field[w->h->n];

	p->at += (uint32_t)http_scan_token(w->buf + p->at, w->len - p->at);
	if (p->at == w->len)
		return HTTP_MORE;
	if (w->buf[p->at] != ':' || p->at == p->line)
		return bad_byte(w, HTTP_BAD_FIELD_NAME);
	name_field(f, head_slice(w, p->line, p->at));
	p->at++;
	return enter_state(w, VALUE);
}

static enum h1_parse_status
on_value(struct work *w)
{
	struct h1_parser *p = w->p;

	p->at += (uint32_t)http_scan_value(w->buf + p->at, w->len - p->at);
	if (p->at == w->len)
		return HTTP_MORE;
	return head_expect(w, '\r', VALUE_LF, HTTP_BAD_FIELD_VALUE);
}

static enum h1_parse_status
on_value_lf(struct work *w)
{
	struct h1_parser *p = w->p;
	struct http_field *f = &w->h->field[w->h->n];
	enum h1_parse_status v = head_expect(w, '\n', FIELD, HTTP_BAD_LINE_END);
	enum http_bad why;

	if (v != HTTP_COMPLETE)
		return v;
	f->value = str_trim(head_slice(w, p->line + (uint32_t)f->name.len + 1, p->at - 2));
	why = http_validate_field(w->h, f);
	if (why != HTTP_BAD_NONE)
		return bad_at(w, why, (uint32_t)(f->value.p - w->buf));
	http_count_field(w->h, f);
	return HTTP_COMPLETE;
}

static enum h1_parse_status
on_end_lf(struct work *w)
{
	enum h1_parse_status v = head_expect(w, '\n', DONE, HTTP_BAD_LINE_END);
	enum http_bad why;

	if (v != HTTP_COMPLETE)
		return v;
	why = http_validate_head(w->h);
	if (why != HTTP_BAD_NONE)
		return bad_at(w, why, w->p->at - 1);
	h1_framing_from_fields(w->h);
	return v;
}

/* --- all of it --- */

static enum h1_parse_status
parse_step(struct work *w)
{
	switch ((enum state)w->p->state) {
	case START:
		return on_start(w);
	case START_LF:
		return on_start_lf(w);
	case METHOD:
		return on_method(w);
	case TARGET:
		return on_target(w);
	case VERSION:
		return on_version(w);
	case VERSION_END:
		return on_version_end(w);
	case STATUS:
		return on_status_code(w);
	case STATUS_END:
		return on_status_end(w);
	case REASON:
		return on_reason(w);
	case LINE_LF:
		return on_line_lf(w);
	case FIELD:
		return on_field(w);
	case NAME:
		return on_name(w);
	case VALUE:
		return on_value(w);
	case VALUE_LF:
		return on_value_lf(w);
	case END_LF:
		return on_end_lf(w);
	case DONE:
		break;
	}
	return HTTP_COMPLETE;
}

static one_copy enum h1_parse_status
parse_bytes(struct work *w, size_t *used)
{
	enum h1_parse_status v = HTTP_COMPLETE;

	while (v == HTTP_COMPLETE && w->p->state != DONE)
		v = w->p->at < w->len ? parse_step(w) : HTTP_MORE;
	*used = w->p->at;
	return v;
}

enum h1_parse_status
h1_parse_request(struct h1_parser *p, const char *buf, size_t len, struct http_head *out,
	size_t *used)
{
	struct work w = { p, buf, (uint32_t)len, out };

	out->kind = HTTP_REQUEST;
	return parse_bytes(&w, used);
}

enum h1_parse_status
h1_parse_response(struct h1_parser *p, const char *buf, size_t len, struct http_head *out,
	size_t *used)
{
	struct work w = { p, buf, (uint32_t)len, out };

	out->kind = HTTP_RESPONSE;
	if (p->state == START)
		out->status = 0;
	return parse_bytes(&w, used);
}

enum h1_parse_status
h1_peek_request(const char *buf, size_t len, struct http_head *out)
{
	struct h1_parser p = { 0 };
	size_t used;

	return h1_parse_request(&p, buf, len, out, &used);
}

/* The shortest request is "M / HTTP/1.0", CRLF, CRLF. */
unsigned int
h1_parse_needs(const struct h1_parser *p, const struct http_head *h)
{
	static const uint8_t least[DONE] = {
		[START] = H1_NEEDS_MAX - 1,
		[START_LF] = H1_NEEDS_MAX,
		[METHOD] = 15,
		[TARGET] = 13,
		[VERSION] = VERSION_LEN + 4,
		[VERSION_END] = 4,
		[LINE_LF] = 3,
		[FIELD] = 2,
		[NAME] = 5,
		[VALUE] = 4,
		[VALUE_LF] = 3,
		[END_LF] = 1,
	};
	unsigned int n = least[p->state];

	assert(n);
	return p->state == VERSION ? n - (p->at - version_at(p, h)) : n;
}

enum http_bad
h1_parse_full(const struct h1_parser *p)
{
	return p->state == TARGET ? HTTP_BAD_TARGET_LONG : HTTP_BAD_HEAD_LONG;
}
