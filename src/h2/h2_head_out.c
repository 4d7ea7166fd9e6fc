/* Encodes heads as field blocks. The fields are visited twice: first to check them and to bound the
 * block, then to encode it, so that an error leaves the table of HPACK as it was. Pure. */
#include "h2/h2_head.h"

#include "base/err.h"
#include "http/uri.h"
#include "http/websocket.h"

/* The fields of a head in the order in which they are sent. */
struct writing {
	struct h2_field pseudo[5];
	unsigned int n_pseudo;
	unsigned int at; /* of pseudo, then of the head's fields */
	int drops_host;  /* it is the :authority */
	int is_websocket; /* its handshake is that of HTTP/2, without a key (RFC 8441, 5) */
	char status[3];
	const struct http_head *h;
};

static void
add_pseudo(struct writing *w, struct str name, struct str value)
{
	w->pseudo[w->n_pseudo++] = (struct h2_field){ name, value, 0 };
}

/* The value of the first field of this id, or an empty one. */
static struct str
first_value(const struct http_head *h, enum http_field_id id)
{
	int at = http_find_id(h, id, 0);

	return at >= 0 ? h->field[at].value : STR("");
}

/* The path of a target; the asterisk form of an absolute target has none (RFC 9113, 8.3.1). */
static struct str
path_of(const struct http_head *h, const struct http_uri *uri)
{
	if (uri->form == HTTP_FORM_ASTERISK)
		return STR("*");
	if (uri->pathq.p && uri->pathq.len && uri->pathq.p[0] == '/')
		return uri->pathq;
	return h->method == HTTP_OPTIONS && !uri->pathq.len ? STR("*") : STR("/");
}

/* 0 or -ERR_INVAL: a tunnel without an authority, or a query without a path, cannot be sent. Other
 * requests of HTTP/1.0 may have no Host, and then have no authority (8.3.1). */
static must_check int
put_request(struct writing *w, unsigned int flags)
{
	const struct http_head *h = w->h;
	struct str authority, usual = flags & H2_HEAD_TLS ? STR("https") : STR("http");
	struct http_uri uri;

	http_uri_split(h->target, &uri);
	if (h->method == HTTP_CONNECT) {
		add_pseudo(w, STR(":method"), h->method_text);
		add_pseudo(w, STR(":authority"), h->target);
		w->drops_host = 1;
		return h->target.len ? 0 : -ERR_INVAL;
	}
	if (uri.pathq.p && uri.pathq.len && uri.pathq.p[0] != '/')
		return -ERR_INVAL;
	authority = uri.authority.p ? uri.authority : first_value(h, HTTP_F_HOST);
	w->drops_host = 1;
	if (flags & H2_HEAD_EXTENDED) {
		struct str protocol = first_value(h, HTTP_F_UPGRADE);

		if (!protocol.len || !authority.len)
			return -ERR_INVAL;
		add_pseudo(w, STR(":method"), STR("CONNECT"));
		add_pseudo(w, STR(":protocol"), protocol);
	} else {
		add_pseudo(w, STR(":method"), h->method_text);
	}
	add_pseudo(w, STR(":scheme"), uri.scheme.p ? uri.scheme : usual);
	if (authority.len)
		add_pseudo(w, STR(":authority"), authority);
	add_pseudo(w, STR(":path"), path_of(h, &uri));
	return 0;
}

/* 101 agrees to an extended CONNECT, and is never sent otherwise (RFC 8441, 5; RFC 9113, 8.6). */
static must_check int
put_status(struct writing *w, unsigned int flags)
{
	unsigned int status = w->h->status;

	if (status == 101 && (flags & H2_HEAD_EXTENDED))
		status = 200;
	if (status < 100 || status > 999 || status == 101)
		return -ERR_INVAL;
	w->status[0] = (char)('0' + status / 100);
	w->status[1] = (char)('0' + status / 10 % 10);
	w->status[2] = (char)('0' + status % 10);
	add_pseudo(w, STR(":status"), (struct str){ w->status, sizeof(w->status) });
	return 0;
}

/* True if a field is sent: those of a connection are not (8.2.2). */
static int
field_is_sent(const struct writing *w, const struct http_field *f)
{
	if (f->dropped)
		return 0;
	switch (f->id) {
	case HTTP_F_CONNECTION:
	case HTTP_F_PROXY_CONNECTION:
	case HTTP_F_KEEP_ALIVE:
	case HTTP_F_TRANSFER_ENCODING:
	case HTTP_F_UPGRADE:
	case HTTP_F_HTTP2_SETTINGS:
		return 0;
	case HTTP_F_TE:
		return w->h->kind == HTTP_REQUEST && str_is_nocase(f->value, STR("trailers"));
	case HTTP_F_HOST:
		return !w->drops_host;
	default:
		return !w->is_websocket || (!str_is_nocase(f->name, WEBSOCKET_KEY) &&
			!str_is_nocase(f->name, WEBSOCKET_ACCEPT));
	}
}

/* Credentials stay out of tables (RFC 7541, 7.1.3), and a short cookie can be guessed. */
static int
field_is_secret(const struct http_field *f)
{
	enum { SHORT_COOKIE = 20 };

	return f->never_indexed || f->id == HTTP_F_AUTHORIZATION ||
		f->id == HTTP_F_PROXY_AUTHORIZATION || f->id == HTTP_F_SET_COOKIE ||
		(f->id == HTTP_F_COOKIE && f->value.len < SHORT_COOKIE);
}

static int
next_sent(void *ctx, struct h2_field *out)
{
	struct writing *w = ctx;

	if (w->at < w->n_pseudo) {
		*out = w->pseudo[w->at++];
		return 1;
	}
	while (w->at - w->n_pseudo < w->h->n) {
		const struct http_field *f = &w->h->field[w->at++ - w->n_pseudo];

		if (!field_is_sent(w, f))
			continue;
		*out = (struct h2_field){ f->name, f->value, field_is_secret(f) };
		return 1;
	}
	return 0;
}

/* The bound of the block, or -ERR_INVAL or -ERR_RANGE: a field cannot be sent. */
static long
bound_block(const struct writing *w)
{
	size_t n = H2_BLOCK_EXTRA;

	for (unsigned int i = 0; i < w->n_pseudo; i++) {
		const struct h2_field *f = &w->pseudo[i];

		if (!http_value_is_valid(f->value))
			return -ERR_INVAL;
		n += H2_FIELD_BOUND(f->name.len, f->value.len);
	}
	for (unsigned int i = 0; i < w->h->n; i++) {
		const struct http_field *f = &w->h->field[i];

		if (!field_is_sent(w, f))
			continue;
		if (!http_name_is_valid(f->name) || !http_value_is_valid(f->value))
			return -ERR_INVAL;
		if (f->name.len > H2_NAME_MAX)
			return -ERR_RANGE;
		n += H2_FIELD_BOUND(f->name.len, f->value.len);
	}
	return (long)n;
}

long
h2_head_encode(struct h2_hpack *hp, const struct http_head *h, unsigned int flags, uint8_t *out,
	size_t cap)
{
	struct writing w = { .h = h, .is_websocket = (flags & H2_HEAD_EXTENDED) != 0 };
	int rc = 0;
	long n;

	if (h->kind == HTTP_REQUEST)
		rc = put_request(&w, flags);
	else if (h->kind == HTTP_RESPONSE)
		rc = put_status(&w, flags);
	if (rc < 0)
		return rc;
	n = bound_block(&w);
	if (n < 0)
		return n;
	if ((size_t)n > cap)
		return -ERR_RANGE;
	return h2_hpack_encode(hp, next_sent, &w, out, cap);
}
