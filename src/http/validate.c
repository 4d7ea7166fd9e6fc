/* Checks Host, Content-Length, Transfer-Encoding and the target against each other. Pure; a
 * head that contradicts itself is refused, never repaired. */
#include "http/validate.h"

#include "http/target.h"

static int
has_field(const struct http_head *h, enum http_field_id id)
{
	return http_find_id(h, id, 0) >= 0;
}

static enum http_bad
validate_host(const struct http_head *h, struct str v)
{
	struct str host, port;

	if (has_field(h, HTTP_F_HOST) || http_authority_split(v, &host, &port) ||
		(!host.len && v.len))
		return HTTP_BAD_HOST;
	return HTTP_BAD_NONE;
}

static enum http_bad
validate_length(const struct http_head *h, struct str v)
{
	uint64_t n;

	if (has_field(h, HTTP_F_CONTENT_LENGTH) || http_length_of(v, &n))
		return HTTP_BAD_CONTENT_LENGTH;
	return has_field(h, HTTP_F_TRANSFER_ENCODING) ? HTTP_BAD_TRANSFER_ENCODING : HTTP_BAD_NONE;
}

/* Checks Transfer-Encoding. HTTP/1.0 does not have it: the sender did not understand it (RFC 9112,
 * 6.1). */
static enum http_bad
validate_encoding(const struct http_head *h, struct str v)
{
	if (h->version == HTTP_1_0 || has_field(h, HTTP_F_TRANSFER_ENCODING) ||
		has_field(h, HTTP_F_CONTENT_LENGTH) || !str_is_nocase(v, STR("chunked")))
		return HTTP_BAD_TRANSFER_ENCODING;
	return HTTP_BAD_NONE;
}

/* --- trailers --- */

int
http_is_forbidden_trailer(struct str name)
{
	static const char names[][HTTP_FORBIDDEN_TRAILER_MAX + 1] = { "authorization",
		"cache-control", "connection", "content-encoding", "content-length",
		"content-range", "content-type", "cookie", "expect", "forwarded", "host",
		"keep-alive", "max-forwards", "proxy-authorization", "proxy-connection", "range",
		"set-cookie", "te", "trailer", "transfer-encoding", "upgrade", "x-forwarded-for" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (str_is_nocase(str_of(names[i]), name))
			return 1;
	return 0;
}

/* --- all of it --- */

enum http_bad
http_validate_named(const struct http_head *h, const struct http_field *f)
{
	if (h->kind == HTTP_TRAILERS)
		return http_is_forbidden_trailer(f->name) ? HTTP_BAD_TRAILER : HTTP_BAD_NONE;
	if (f->id == HTTP_F_HOST && h->kind == HTTP_REQUEST)
		return validate_host(h, f->value);
	if (f->id == HTTP_F_CONTENT_LENGTH)
		return validate_length(h, f->value);
	if (f->id == HTTP_F_TRANSFER_ENCODING)
		return validate_encoding(h, f->value);
	return HTTP_BAD_NONE;
}

static int
has_content(const struct http_head *h)
{
	int at = http_find_id(h, HTTP_F_CONTENT_LENGTH, 0);
	uint64_t n = 0;

	return at >= 0 && (http_length_of(h->field[at].value, &n) || n);
}

/* True for requests whose length some recipients ignore: they would take the body for a request. */
static int
is_read_two_ways(const struct http_head *h)
{
	return h->version == HTTP_1_0 && !h->takes_old_content &&
		(h->method == HTTP_GET || h->method == HTTP_HEAD || h->method == HTTP_DELETE) &&
		has_content(h);
}

/* Checks a request. CONNECT has no content (RFC 9110, 9.3.6): recipients would disagree whether
 * data is content or tunnelled. */
static enum http_bad
validate_request(const struct http_head *h)
{
	struct str authority;
	enum http_form form = http_target_form(h->method, h->target, &authority);
	int host = http_find_id(h, HTTP_F_HOST, 0);

	if (host < 0 && h->version == HTTP_1_1)
		return HTTP_BAD_HOST;
	if (host >= 0 && !http_host_fits(h->field[host].value, form, h->target, authority))
		return HTTP_BAD_HOST;
	if (h->method == HTTP_CONNECT && has_field(h, HTTP_F_TRANSFER_ENCODING))
		return HTTP_BAD_TRANSFER_ENCODING;
	if (h->method == HTTP_CONNECT && has_content(h))
		return HTTP_BAD_CONTENT_LENGTH;
	return is_read_two_ways(h) ? HTTP_BAD_OLD_CONTENT : HTTP_BAD_NONE;
}

/* Checks a response. 1xx and 204 have no body: framing fields in them are an attack or an error
 * (RFC 9112, 6.1). */
static enum http_bad
validate_response(const struct http_head *h)
{
	if (h->status >= 200 && h->status != 204)
		return HTTP_BAD_NONE;
	if (has_field(h, HTTP_F_TRANSFER_ENCODING))
		return HTTP_BAD_TRANSFER_ENCODING;
	return has_content(h) ? HTTP_BAD_CONTENT_LENGTH : HTTP_BAD_NONE;
}

enum http_bad
http_validate_head(const struct http_head *h)
{
	if (h->kind == HTTP_TRAILERS)
		return HTTP_BAD_NONE;
	return h->kind == HTTP_REQUEST ? validate_request(h) : validate_response(h);
}
