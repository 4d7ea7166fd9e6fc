/* Reads the framing of a body from the fields of HTTP/1, and writes it to them. Pure: it reads the
 * head alone. A head that the parser has accepted does not contradict itself. */
#include "http/h1_framing.h"

#include "http/reply.h"

static int
response_may_have_body(const struct http_head *res)
{
	return res->method != HTTP_HEAD && !http_status_has_no_body(res->status);
}

static int
response_opens_tunnel(const struct http_head *res)
{
	return res->status == 101 || (res->method == HTTP_CONNECT && res->status / 100 == 2);
}

/* Returns CHUNKED, LENGTH, or `otherwise` where there is neither field. */
static enum http_framing
framing_of_fields(struct http_head *h, enum http_framing otherwise)
{
	int at = http_find_id(h, HTTP_F_CONTENT_LENGTH, 0);

	if (http_find_id(h, HTTP_F_TRANSFER_ENCODING, 0) >= 0)
		return HTTP_BODY_CHUNKED;
	if (at >= 0 && http_length_of(h->field[at].value, &h->length) == 0)
		return HTTP_BODY_LENGTH;
	return otherwise;
}

void
h1_framing_from_fields(struct http_head *h)
{
	if (h->kind == HTTP_REQUEST)
		h->framing = framing_of_fields(h, HTTP_BODY_NONE);
	else if (response_opens_tunnel(h))
		h->framing = HTTP_BODY_TUNNEL;
	else if (response_may_have_body(h))
		h->framing = framing_of_fields(h, HTTP_BODY_CLOSE);
	else
		h->framing = HTTP_BODY_NONE;
}

static int
add_once(struct http_head *h, enum http_field_id id, struct str value)
{
	if (http_find_id(h, id, 0) >= 0)
		return 0;
	return http_add_id(h, id, value);
}

void
h1_obey_status(struct http_head *h)
{
	if (h->kind != HTTP_RESPONSE || h->framing == HTTP_BODY_TUNNEL || response_may_have_body(h))
		return;
	h->framing = HTTP_BODY_NONE;
	if (h->status < 200 || h->status == 204) {
		http_drop_id(h, HTTP_F_CONTENT_LENGTH);
		http_drop_id(h, HTTP_F_TRANSFER_ENCODING);
		http_drop_id(h, HTTP_F_TRAILER);
	}
}

int
h1_framing_to_fields(struct http_head *h, enum http_version receiver)
{
	h1_obey_status(h);
	if (h->framing == HTTP_BODY_TUNNEL && h->status / 100 == 2) {
		http_drop_id(h, HTTP_F_CONTENT_LENGTH);
		http_drop_id(h, HTTP_F_TRANSFER_ENCODING);
	}
	if (receiver == HTTP_1_0) {
		/* Responses without a body have them, too, as to HEAD (RFC 9112, 6.1). */
		http_drop_id(h, HTTP_F_TRANSFER_ENCODING);
		http_drop_id(h, HTTP_F_TRAILER);
		if (h->framing == HTTP_BODY_CHUNKED)
			h->framing = HTTP_BODY_CLOSE;
	}
	if (h->framing == HTTP_BODY_CHUNKED)
		return add_once(h, HTTP_F_TRANSFER_ENCODING, STR("chunked"));
	if (h->framing == HTTP_BODY_NONE && h->kind == HTTP_RESPONSE && response_may_have_body(h))
		return add_once(h, HTTP_F_CONTENT_LENGTH, STR("0"));
	return 0;
}
