/* Builds the responses of the proxy itself. Main thread, while the configuration is read;
 * after that they are only read, by all workers. */
#include "http/reply.h"

#include "base/err.h"
#include "base/mem.h"
#include "http/h1_write.h"
#include "http/status.h"

#define STR_INIT(literal) { literal, sizeof(literal) - 1 }

/* --- built-in --- */

#define BODY(status, reason, text) \
	"<html><body><h1>" #status " " reason "</h1>\n" text "\n</body></html>\n"
#define LENGTH(status, reason, text) (sizeof(BODY(status, reason, text)) - 1)

/* Lengths as text, written by the compiler. */
#define HTTP_ERROR(status, reason, text)                                                        \
	_Static_assert(LENGTH(status, reason, text) < 1000, "an error text too long");          \
	static const char length_##status[] = { '0' + LENGTH(status, reason, text) / 100,       \
		'0' + LENGTH(status, reason, text) / 10 % 10,                                   \
		'0' + LENGTH(status, reason, text) % 10 };
#include "http/errors.tbl.h"
#undef HTTP_ERROR

#define FIELD(i, n, ...) { .name = STR_INIT(n), .value = __VA_ARGS__, .id = HTTP_F_##i }

static const struct http_field error_fields[HTTP_ERRORS][3] = {
#define HTTP_ERROR(status, reason, text)                                                        \
	[HTTP_ERROR_##status] = {                                                               \
		FIELD(CONTENT_LENGTH, "Content-Length",                                         \
			{ length_##status + (LENGTH(status, reason, text) < 100),               \
				LENGTH(status, reason, text) < 100 ? 2 : 3 }),                  \
		FIELD(CACHE_CONTROL, "Cache-Control", STR_INIT("no-cache")),                    \
		FIELD(CONTENT_TYPE, "Content-Type", STR_INIT("text/html")),                     \
	},
#include "http/errors.tbl.h"
#undef HTTP_ERROR
};

static const struct http_reply errors[HTTP_ERRORS] = {
#define HTTP_ERROR(code, phrase, text)                                                          \
	[HTTP_ERROR_##code] = {                                                                 \
		.status = code,                                                                 \
		.reason = STR_INIT(phrase),                                                     \
		.field = error_fields[HTTP_ERROR_##code],                                       \
		.n = 3,                                                                         \
		.body = STR_INIT(BODY(code, phrase, text)),                                     \
	},
#include "http/errors.tbl.h"
#undef HTTP_ERROR
};

int
http_error_id(unsigned int status)
{
	for (int i = 0; i < HTTP_ERRORS; i++)
		if (errors[i].status == status)
			return i;
	return -1;
}

const char *
http_error_list(void)
{
	static const char list[] =
#define HTTP_ERROR(status, reason, text) " " #status
#include "http/errors.tbl.h"
#undef HTTP_ERROR
		;

	return list + 1;
}

const struct http_reply *
http_error(enum http_error_id id)
{
	return &errors[id];
}

/* --- replies of the configuration --- */

int
http_status_has_no_body(unsigned int status)
{
	return status < 200 || status == 204 || status == 304;
}

static struct str
copy_to(char **at, struct str s)
{
	struct str copy = { *at, s.len };

	if (s.len)
		memcpy(*at, s.p, s.len);
	*at += s.len;
	return copy;
}

/* One block: the reply, its fields and texts. */
int
http_reply_make(unsigned int status, struct str reason, const struct http_field *field,
	unsigned int n, struct str body, struct http_reply **out)
{
	char digits[HTTP_LENGTH_DIGITS], *at;
	struct str length = http_length_text(body.len, digits);
	size_t bytes = reason.len + body.len + length.len;
	struct http_reply *r;
	struct http_field *f;

	for (unsigned int i = 0; i < n; i++)
		bytes += field[i].name.len + field[i].value.len;
	r = mem_zalloc(sizeof(*r) + (n + 1) * sizeof(*f) + bytes);
	if (!r)
		return -ERR_NOMEM;
	f = (struct http_field *)(void *)(r + 1);
	at = (char *)(f + n + 1);
	r->status = status;
	r->refs = 1;
	r->field = f;
	r->reason = copy_to(&at, reason);
	for (unsigned int i = 0; i < n; i++)
		f[r->n++] = (struct http_field){ .name = copy_to(&at, field[i].name),
			.value = copy_to(&at, field[i].value),
			.id = (uint16_t)http_field_id(field[i].name) };
	if (!http_status_has_no_body(status))
		f[r->n++] = (struct http_field){ .name = STR("Content-Length"),
			.value = copy_to(&at, length), .id = HTTP_F_CONTENT_LENGTH };
	r->body = copy_to(&at, body);
	*out = r;
	return 0;
}

int
http_field_is_framing(enum http_field_id id)
{
	return id == HTTP_F_CONTENT_LENGTH || id == HTTP_F_TRANSFER_ENCODING ||
		id == HTTP_F_CONNECTION;
}

int
http_reply_new(unsigned int status, const struct http_field *field, unsigned int n, struct str body,
	struct http_reply **out)
{
	if (status < 200 || status > 599 || (body.len && http_status_has_no_body(status)))
		return -ERR_INVAL;
	if (n >= HTTP_REPLY_FIELDS)
		return -ERR_RANGE;
	for (unsigned int i = 0; i < n; i++)
		if (!http_name_is_valid(field[i].name) || !http_value_is_valid(field[i].value) ||
			http_field_is_framing(http_field_id(field[i].name)))
			return -ERR_INVAL;
	return http_reply_make(status, str_of(http_status_reason(status)), field, n, body, out);
}

struct http_reply *
http_reply_get(struct http_reply *r)
{
	r->refs++;
	return r;
}

void
http_reply_put(struct http_reply **r)
{
	struct http_reply *one = *r;

	*r = NULL;
	if (one && --one->refs == 0)
		mem_free(one);
}

/* --- sending --- */

int
http_reply_head(const struct http_reply *r, enum http_conn conn, struct http_head *out)
{
	if (r->n + (conn != HTTP_CONN_UNSAID) > out->max)
		return -ERR_RANGE;
	out->kind = HTTP_RESPONSE;
	out->version = HTTP_1_1;
	out->status = r->status;
	out->reason = r->reason;
	out->framing = http_status_has_no_body(r->status) ? HTTP_BODY_NONE : HTTP_BODY_LENGTH;
	out->length = r->body.len;
	for (out->n = 0; out->n < r->n; http_count_field(out, &out->field[out->n]))
		out->field[out->n] = r->field[out->n];
	if (conn == HTTP_CONN_UNSAID)
		return 0;
	return http_add_id(out, HTTP_F_CONNECTION,
		conn == HTTP_CONN_CLOSE ? STR("close") : STR("keep-alive"));
}

struct str
http_reply_body(const struct http_reply *r, enum http_method method)
{
	return method == HTTP_HEAD ? (struct str){ NULL, 0 } : r->body;
}

size_t
http_reply_size(const struct http_reply *r)
{
	struct http_field field[HTTP_REPLY_FIELDS + 1];
	struct http_head h;

	http_head_init(&h, HTTP_RESPONSE, field, ARRAY_LEN(field));
	if (!r->status || http_reply_head(r, HTTP_CONN_KEEP_ALIVE, &h) < 0)
		return 0;
	return h1_size(&h) + r->body.len;
}

long
http_reply_write(const struct http_reply *r, enum http_conn conn, enum http_method method,
	char *out, size_t cap)
{
	struct http_field field[HTTP_REPLY_FIELDS + 1];
	struct str body = http_reply_body(r, method);
	struct http_head h;
	size_t n;
	int rc;

	if (!r->status)
		return 0;
	http_head_init(&h, HTTP_RESPONSE, field, ARRAY_LEN(field));
	rc = http_reply_head(r, conn, &h);
	if (rc < 0)
		return rc;
	n = h1_size(&h);
	if (n > cap || body.len > cap - n)
		return -ERR_RANGE;
	h1_write(&h, out);
	if (body.len)
		memcpy(out + n, body.p, body.len);
	return (long)(n + body.len);
}
