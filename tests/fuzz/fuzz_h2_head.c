/* Field blocks: the first byte chooses what they are, the others are decoded. A head that is
 * accepted is the same head written as HTTP/1 and parsed there, and encoded and decoded again. */
#include "base/err.h"
#include "fuzz/head.h"
#include "h2/h2_head.h"
#include "unit/h2/block.h"

#define FIELDS 64
#define PLACE 4096

/* Takes out what is dropped. */
static void
compact_fields(struct http_head *h)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < h->n; i++)
		if (!h->field[i].dropped)
			h->field[n++] = h->field[i];
	h->n = n;
}

static void
hold_text(const struct h2_texts *to, struct str s)
{
	int is_static = str_is(s, STR("GET")) || !s.len;

	hold(is_static || (s.p >= to->p && s.p + s.len <= to->p + to->used));
}

static void
hold_texts(const struct http_head *h, const struct h2_texts *to)
{
	hold(to->used <= to->cap && h1_size(h) <= to->used);
	hold_text(to, h->method_text);
	hold_text(to, h->target);
	for (unsigned int i = 0; i < h->n; i++) {
		hold_text(to, h->field[i].name);
		hold_text(to, h->field[i].value);
		hold(http_name_is_valid(h->field[i].name));
		hold(http_value_is_valid(h->field[i].value));
		for (size_t c = 0; c < h->field[i].name.len; c++)
			hold(str_lower(h->field[i].name.p[c]) == h->field[i].name.p[c]);
	}
}

/* The parser of HTTP/1 reads the same fields, and nothing behind them. */
static void
hold_as_http1(const struct http_head *h)
{
	static struct http_field field[FIELDS];
	struct http_head copy = *h, parsed;
	size_t n, used;
	char *out;
	struct h1_parser p = { 0 };
	enum h1_parse_status r;

	copy.version = HTTP_1_1;
	n = h1_size(&copy);
	out = malloc(n);
	hold(out && h1_write(&copy, out) == n);
	http_head_init(&parsed, h->kind, field, FIELDS);
	parsed.method = h->method;
	r = h->kind == HTTP_REQUEST ? h1_parse_request(&p, out, n, &parsed, &used)
				    : h1_parse_response(&p, out, n, &parsed, &used);
	hold(r == HTTP_COMPLETE && used == n && parsed.n == h->n);
	hold(str_is(parsed.target, h->target) && parsed.status == h->status);
	for (unsigned int i = 0; i < h->n; i++)
		hold(str_is(parsed.field[i].name, h->field[i].name) &&
			str_is(parsed.field[i].value, h->field[i].value));
	free(out);
}

/* True unless the authority of a request is in Host alone. */
static int
has_authority(const struct http_head *h)
{
	return h->kind != HTTP_REQUEST || h->method == HTTP_CONNECT ||
		!strchr("/*", h->target.p[0]);
}

/* Encoded again it is the same head. */
static void
hold_encoded(const struct http_head *h, const struct h2_texts *to, unsigned int flags)
{
	static struct http_field field[FIELDS];
	static uint8_t block[PLACE + 1024];
	static char place[PLACE];
	struct h2_texts texts = { .p = place, .cap = sizeof(place) };
	struct http_head again;
	struct h2_hpack hp;
	long n;

	init_table(&hp);
	flags &= ~(to->extended || h->status == 101 ? 0u : H2_HEAD_EXTENDED);
	n = h2_head_encode(&hp, h, flags, block, sizeof(block));
	hold(n >= 0);
	http_head_init(&again, h->kind, field, FIELDS);
	again.method = h->method;
	hold(h2_head_decode(&hp, block, (size_t)n, flags, &again, &texts) == 0);
	hold(again.n == h->n && again.framing == h->framing && again.length == h->length);
	hold(str_is(again.method_text, h->method_text) && again.status == h->status);
	/* Host alone becomes :authority, and comes first. */
	for (unsigned int i = 0; i < h->n && has_authority(h); i++)
		hold(str_is(again.field[i].name, h->field[i].name) &&
			str_is(again.field[i].value, h->field[i].value));
	h2_hpack_fini(&hp);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const enum http_method methods[] = { HTTP_GET, HTTP_HEAD, HTTP_CONNECT, HTTP_POST };
	static struct http_field field[FIELDS];
	static char place[PLACE];
	struct h2_texts texts = { .p = place, .cap = sizeof(place) };
	struct http_head h;
	struct h2_hpack hp;
	unsigned int choice = size ? data[0] : 0, flags = choice >> 2 & 3;
	int r;

	init_table(&hp);
	http_head_init(&h, choice % 4 == 0 ? HTTP_REQUEST : choice % 4 == 1 ? HTTP_RESPONSE
									    : HTTP_TRAILERS,
		field, FIELDS);
	h.method = methods[choice >> 4 & 3];
	if (choice & 0x40)
		texts.cap = 100;
	r = h2_head_decode(&hp, data + (size != 0), size - (size != 0), flags, &h, &texts);
	hold(r == 0 || r == -ERR_INVAL || r == -ERR_RANGE || r == -ERR_SYNTAX);
	hold(r != -ERR_INVAL || texts.bad != H2_BAD_NONE);
	if (r == 0) {
		compact_fields(&h);
		hold_texts(&h, &texts);
		if (h.kind != HTTP_TRAILERS)
			hold_as_http1(&h);
		hold_encoded(&h, &texts, flags);
	}
	h2_hpack_fini(&hp);
	return 0;
}
