/* A whole response of HTTP/1 in memory. */
#include "http/whole.h"

#include "http/h1_body.h"
#include "http/h1_parse.h"

#define WHOLE_FIELDS_MAX 64

/* Only a body that is complete is decoded, so that this may be called again with more bytes. */
static enum http_whole
whole_chunks(struct h1_body *b, char *p, size_t len, struct str *body)
{
	struct h1_body ahead = *b;
	size_t used, n;

	if (len && h1_body_take(&ahead, p, len) < 0)
		return HTTP_WHOLE_BAD;
	if (!h1_body_is_over(&ahead))
		return HTTP_WHOLE_MORE;
	if (h1_body_decode(b, p, p, len, &used, &n) < 0)
		return HTTP_WHOLE_BAD;
	*body = (struct str){ p, n };
	return HTTP_WHOLE;
}

static enum http_whole
whole_body(const struct http_head *h, char *p, size_t len, int ended, struct str *body)
{
	struct h1_body b;

	h1_body_begin(&b, h);
	*body = (struct str){ p, len };
	switch (b.framing) {
	case HTTP_BODY_NONE:
		body->len = 0;
		return HTTP_WHOLE;
	case HTTP_BODY_LENGTH:
		if (len < b.left)
			return HTTP_WHOLE_MORE;
		body->len = (size_t)b.left;
		return HTTP_WHOLE;
	case HTTP_BODY_CHUNKED:
		return whole_chunks(&b, p, len, body);
	case HTTP_BODY_CLOSE:
		return ended ? HTTP_WHOLE : HTTP_WHOLE_MORE;
	case HTTP_BODY_TUNNEL:
		break;
	}
	return HTTP_WHOLE_BAD;
}

enum http_whole
http_whole_response(char *p, size_t len, int ended, unsigned int *status, struct str *body)
{
	struct http_field field[WHOLE_FIELDS_MAX];
	enum http_whole r = HTTP_WHOLE_MORE;
	size_t used;

	/* Informational responses are passed over. */
	do {
		struct h1_parser parser = { 0 };
		struct http_head h;

		http_head_init(&h, HTTP_RESPONSE, field, WHOLE_FIELDS_MAX);
		h.method = HTTP_POST;
		switch (h1_parse_response(&parser, p, len, &h, &used)) {
		case HTTP_MORE:
			return ended ? HTTP_WHOLE_BAD : HTTP_WHOLE_MORE;
		case HTTP_BAD:
			return HTTP_WHOLE_BAD;
		case HTTP_COMPLETE:
			break;
		}
		*status = h.status;
		p += used;
		len -= used;
		if (h.status >= 200)
			r = whole_body(&h, p, len, ended, body);
		else if (h.status == 101)
			return HTTP_WHOLE_BAD;
	} while (*status < 200);
	return r == HTTP_WHOLE_MORE && ended ? HTTP_WHOLE_BAD : r;
}
