/* Frames of SPOP, both ways. Pure. */
#include "spop/spop.h"

#include <string.h>

#include "base/wire.h"

#define FLAG_FIN 1u
#define FLAG_ABORT 2u

/* A typed value: the type in the low four bits, flags above it. */
#define TYPE_MASK 0x0fu
#define FLAG_TRUE 0x10u

/* --- out --- */

static void
put_spop_number(struct sbuf *b, uint64_t v)
{
	uint8_t bytes[WIRE_NUMBER_MAX];
	struct wire_out w = { bytes, bytes + sizeof(bytes), 0 };

	wire_put_number(&w, v);
	sbuf_add(b, (const char *)bytes, (size_t)(w.p - bytes));
}

void
spop_put_text(struct sbuf *b, struct str text)
{
	put_spop_number(b, text.len);
	if (text.len)
		sbuf_add(b, text.p, text.len);
}

void
spop_put_value(struct sbuf *b, const struct spop_value *v)
{
	unsigned int flags = v->type == SPOP_BOOL && v->n ? FLAG_TRUE : 0;

	sbuf_addc(b, (char)(v->type | flags));
	switch (v->type) {
	case SPOP_NULL:
	case SPOP_BOOL:
		break;
	case SPOP_INT32:
	case SPOP_UINT32:
	case SPOP_INT64:
	case SPOP_UINT64:
		put_spop_number(b, (uint64_t)v->n);
		break;
	case SPOP_IPV4:
		sbuf_add(b, (const char *)v->ip, 4);
		break;
	case SPOP_IPV6:
		sbuf_add(b, (const char *)v->ip, 16);
		break;
	case SPOP_STRING:
	case SPOP_BINARY:
		spop_put_text(b, v->text);
		break;
	}
}

static void
write_u32(char *p, uint32_t v)
{
	p[0] = (char)(v >> 24);
	p[1] = (char)(v >> 16);
	p[2] = (char)(v >> 8);
	p[3] = (char)v;
}

size_t
spop_begin_frame(struct sbuf *b, enum spop_type type, uint64_t stream_id, uint64_t frame_id)
{
	size_t at = b->len;
	char head[SPOP_LENGTH + 1 + 4] = { 0 };

	head[SPOP_LENGTH] = (char)type;
	write_u32(head + SPOP_LENGTH + 1, FLAG_FIN);
	sbuf_add(b, head, sizeof(head));
	put_spop_number(b, stream_id);
	put_spop_number(b, frame_id);
	return at;
}

void
spop_end_frame(struct sbuf *b, size_t at)
{
	if (!b->failed)
		write_u32(b->p + at, (uint32_t)(b->len - at - SPOP_LENGTH));
}

static void
put_text_item(struct sbuf *b, const char *name, struct str text)
{
	const struct spop_value v = { .type = SPOP_STRING, .text = text };

	spop_put_text(b, str_of(name));
	spop_put_value(b, &v);
}

static void
put_number_item(struct sbuf *b, const char *name, uint32_t n)
{
	const struct spop_value v = { .type = SPOP_UINT32, .n = n };

	spop_put_text(b, str_of(name));
	spop_put_value(b, &v);
}

void
spop_put_hello(struct sbuf *b, const struct spop_hello *h)
{
	const struct spop_value yes = { .type = SPOP_BOOL, .n = 1 };
	size_t at = spop_begin_frame(b, SPOP_HAPROXY_HELLO, 0, 0);

	put_text_item(b, "supported-versions", STR("2.0"));
	put_number_item(b, "max-frame-size", h->max_frame);
	put_text_item(b, "capabilities", h->capabilities);
	if (h->is_check) {
		spop_put_text(b, STR("healthcheck"));
		spop_put_value(b, &yes);
	}
	if (h->engine_id.len)
		put_text_item(b, "engine-id", h->engine_id);
	spop_end_frame(b, at);
}

const char *
spop_status_text(uint32_t s)
{
	static const char *const texts[] = {
		[SPOP_OK] = "normal",
		[SPOP_IO] = "I/O error",
		[SPOP_TIMEOUT] = "a timeout occurred",
		[SPOP_TOO_BIG] = "frame is too big",
		[SPOP_INVALID] = "invalid frame received",
		[SPOP_NO_VERSION] = "version value not found",
		[SPOP_NO_FRAME_SIZE] = "max-frame-size value not found",
		[SPOP_NO_CAPABILITIES] = "capabilities value not found",
		[SPOP_BAD_VERSION] = "unsupported version",
		[SPOP_BAD_FRAME_SIZE] = "max-frame-size too big or too small",
		[SPOP_FRAGMENTED] = "fragmentation not supported",
		[SPOP_NO_MEMORY] = "resource allocation error",
	};
	const char *text = s < ARRAY_LEN(texts) ? texts[s] : NULL;

	return text ? text : "an unknown error occurred";
}

void
spop_put_disconnect(struct sbuf *b, enum spop_status why)
{
	size_t at = spop_begin_frame(b, SPOP_HAPROXY_DISCONNECT, 0, 0);

	put_number_item(b, "status-code", (uint32_t)why);
	put_text_item(b, "message", str_of(spop_status_text(why)));
	spop_end_frame(b, at);
}

/* --- in --- */

static size_t
rest_of(const struct spop_in *in)
{
	return (size_t)(in->end - in->p);
}

/* 0, or -1: it is truncated or longer than 64 bits. */
static int
get_spop_number(struct spop_in *in, uint64_t *out)
{
	struct wire_in r = { in->p, in->end, 0 };

	*out = wire_take_number(&r);
	in->p = r.p;
	return r.failed ? -1 : 0;
}

static int
get_text(struct spop_in *in, struct str *out)
{
	uint64_t n;

	if (get_spop_number(in, &n) < 0 || n > rest_of(in))
		return -1;
	*out = (struct str){ (const char *)in->p, (size_t)n };
	in->p += n;
	return 0;
}

static int
get_ip(struct spop_in *in, uint8_t *out, size_t n)
{
	if (rest_of(in) < n)
		return -1;
	memcpy(out, in->p, n);
	in->p += n;
	return 0;
}

static int
get_value(struct spop_in *in, struct spop_value *out)
{
	uint64_t n = 0;
	uint8_t head;
	int r = 0;

	if (in->p == in->end)
		return -1;
	head = *in->p++;
	memset(out, 0, sizeof(*out));
	if ((head & TYPE_MASK) > SPOP_BINARY)
		return -1;
	out->type = (enum spop_value_type)(head & TYPE_MASK);
	switch (out->type) {
	case SPOP_NULL:
		break;
	case SPOP_BOOL:
		n = (head & FLAG_TRUE) != 0;
		break;
	case SPOP_INT32:
	case SPOP_UINT32:
	case SPOP_INT64:
	case SPOP_UINT64:
		r = get_spop_number(in, &n);
		break;
	case SPOP_IPV4:
		r = get_ip(in, out->ip, 4);
		break;
	case SPOP_IPV6:
		r = get_ip(in, out->ip, 16);
		break;
	case SPOP_STRING:
	case SPOP_BINARY:
		r = get_text(in, &out->text);
		break;
	}
	out->n = (int64_t)n;
	return r;
}

static uint32_t
read_u32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

uint32_t
spop_length(const uint8_t p[SPOP_LENGTH])
{
	return read_u32(p);
}

enum spop_status
spop_read_frame(const uint8_t *p, size_t n, struct spop_frame *out)
{
	uint32_t flags;

	if (n < 1 + 4)
		return SPOP_INVALID;
	out->type = p[0];
	flags = read_u32(p + 1);
	out->payload = (struct spop_in){ p + 1 + 4, p + n };
	if (get_spop_number(&out->payload, &out->stream_id) < 0 ||
		get_spop_number(&out->payload, &out->frame_id) < 0)
		return SPOP_INVALID;
	/* An agent may abort only what it was sent in fragments. */
	if (!(flags & FLAG_FIN) || out->type == 0)
		return SPOP_FRAGMENTED;
	return flags & ~FLAG_FIN ? SPOP_INVALID : SPOP_OK;
}

/* The next item of a list: 1, 0: none, -1: the rest is invalid. */
static int
next_item(struct spop_in *in, struct str *name, struct spop_value *v)
{
	if (in->p == in->end)
		return 0;
	return get_text(in, name) < 0 || get_value(in, v) < 0 ? -1 : 1;
}

static int
holds_number(const struct spop_value *v)
{
	return v->type >= SPOP_INT32 && v->type <= SPOP_UINT64;
}

/* True if a list "a, b" has the word. */
static int
lists_word(struct str list, struct str word)
{
	while (list.len) {
		const char *comma = memchr(list.p, ',', list.len);
		size_t n = comma ? (size_t)(comma - list.p) : list.len;

		if (str_is(str_trim((struct str){ list.p, n }), word))
			return 1;
		n += comma != NULL;
		list.p += n;
		list.len -= n;
	}
	return 0;
}

/* The items of an AGENT-HELLO, as they came. */
struct agent_items {
	struct str version;      /* p NULL: not there */
	struct str capabilities; /* empty also without it, as HAProxy permits */
	int64_t max_frame;                /* 0: not there */
};

static enum spop_status
read_agent_items(struct spop_in in, struct agent_items *out)
{
	struct spop_value v;
	struct str name;
	int r;

	while ((r = next_item(&in, &name, &v)) > 0) {
		if (str_is(name, STR("version")) && v.type == SPOP_STRING)
			out->version = v.text;
		else if (str_is(name, STR("capabilities")) && v.type == SPOP_STRING)
			out->capabilities = v.text;
		else if (str_is(name, STR("max-frame-size")) && holds_number(&v))
			out->max_frame = v.n;
	}
	return r < 0 ? SPOP_INVALID : SPOP_OK;
}

enum spop_status
spop_read_hello(const struct spop_frame *f, uint32_t max_frame, struct spop_agent *out)
{
	struct agent_items items = { .max_frame = 0 };
	enum spop_status s = f->stream_id || f->frame_id ? SPOP_INVALID
							 : read_agent_items(f->payload, &items);

	if (s != SPOP_OK)
		return s;
	if (!items.version.p)
		return SPOP_NO_VERSION;
	if (!str_is(str_trim(items.version), STR("2.0")))
		return SPOP_BAD_VERSION;
	if (!items.max_frame)
		return SPOP_NO_FRAME_SIZE;
	if (items.max_frame < (int64_t)SPOP_FRAME_MIN || items.max_frame > (int64_t)max_frame)
		return SPOP_BAD_FRAME_SIZE;
	out->max_frame = (uint32_t)items.max_frame;
	out->pipelines = lists_word(items.capabilities, STR("pipelining"));
	out->is_async = lists_word(items.capabilities, STR("async"));
	return SPOP_OK;
}

enum spop_status
spop_read_disconnect(const struct spop_frame *f, uint32_t *code, struct str *text)
{
	struct spop_in in = f->payload;
	struct spop_value v;
	struct str name;
	int r, has_code = 0, has_text = 0;

	while ((r = next_item(&in, &name, &v)) > 0) {
		if (str_is(name, STR("status-code")) && holds_number(&v)) {
			*code = (uint32_t)v.n;
			has_code = 1;
		} else if (str_is(name, STR("message")) && v.type == SPOP_STRING) {
			*text = v.text;
			has_text = 1;
		}
	}
	return r == 0 && has_code && has_text ? SPOP_OK : SPOP_INVALID;
}

enum { ACTION_SET = 1, ACTION_UNSET = 2 };

int
spop_next_action(struct spop_in *in, struct spop_action *out)
{
	uint8_t args;

	if (in->p == in->end)
		return 0;
	if (rest_of(in) < 3 || (in->p[0] != ACTION_SET && in->p[0] != ACTION_UNSET))
		return -1;
	out->is_unset = in->p[0] == ACTION_UNSET;
	args = in->p[1];
	if (in->p[2] >= SPOP_SCOPES)
		return -1;
	out->scope = (enum spop_scope)in->p[2];
	in->p += 3;
	if (args != (out->is_unset ? 2 : 3) || get_text(in, &out->name) < 0 || !out->name.len)
		return -1;
	return !out->is_unset && get_value(in, &out->value) < 0 ? -1 : 1;
}

int
spop_actions_are_valid(struct spop_in in)
{
	struct spop_action a;
	int r;

	while ((r = spop_next_action(&in, &a)) > 0)
		;
	return r == 0;
}
