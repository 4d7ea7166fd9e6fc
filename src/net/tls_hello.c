/* Reads a TLS client hello. Sans-I/O. A length that goes beyond the bytes at hand is never used. */
#include "net/tls_hello.h"

#include <string.h>

enum {
	RECORD_HEAD = 5,
	MESSAGE_HEAD = 4,
	CHANGE_CIPHER_SPEC = 20,
	ALERT = 21,
	HANDSHAKE = 22,
	CLIENT_HELLO = 1,
	RANDOM = 32,
	SESSION_MAX = 32,
	EXT_NAME = 0,
	EXT_GROUPS = 10,
	EXT_ALPN = 16,
	EXT_TICKET = 35,
	NAME_HOST = 0,
	SSL2_MIN = 9 /* bytes of an SSLv2 hello after its length: type, version, three lengths */
};

static struct hello_part
hello_part_of(struct str s)
{
	return (struct hello_part){ (const uint8_t *)s.p, s.len, 0 };
}

static struct hello_part
hello_take_bytes(struct hello_part *from, size_t n)
{
	struct hello_part out = { from->p, n, from->bad };

	if (from->bad || n > from->len) {
		from->bad = 1;
		from->len = 0;
		return (struct hello_part){ NULL, 0, 1 };
	}
	from->p += n;
	from->len -= n;
	return out;
}

uint32_t
hello_take_number(struct hello_part *from, size_t n)
{
	struct hello_part b = hello_take_bytes(from, n);
	uint32_t v = 0;

	for (size_t i = 0; i < b.len; i++)
		v = v << 8 | b.p[i];
	return v;
}

struct hello_part
hello_take_vector(struct hello_part *from, size_t n)
{
	return hello_take_bytes(from, hello_take_number(from, n));
}

static struct str
part_text(struct hello_part p)
{
	return (struct str){ (const char *)p.p, p.len };
}

/* --- records --- */

/* True if the bytes so far may begin a record that precedes the end of a hello. As in HAProxy its
 * version has to be 3.x or later, although RFC 8446, 5.1 ignores it. */
static int
is_record(struct hello_part b)
{
	if (b.len > 0 && (b.p[0] < CHANGE_CIPHER_SPEC || b.p[0] > HANDSHAKE))
		return 0;
	if (b.len > 1 && b.p[1] < 3)
		return 0;
	if (b.len < RECORD_HEAD || b.p[0] == HANDSHAKE)
		return 1;
	return b.p[3] == 0 && b.p[4] == (b.p[0] == ALERT ? 2 : 1);
}

/* The bytes at hand of the next record that carries a part of the handshake. HELLO_MORE: the bytes
 * end before its head does. */
static enum hello_found
next_fragment(struct hello_part *all, struct hello_part *fragment)
{
	while (is_record(*all)) {
		uint32_t type, len;

		if (all->len < RECORD_HEAD)
			return HELLO_MORE;
		type = hello_take_number(all, 1);
		(void)hello_take_bytes(all, 2);
		len = hello_take_number(all, 2);
		*fragment = hello_take_bytes(all, MIN(len, all->len));
		if (type == HANDSHAKE && len)
			return HELLO_WHOLE;
	}
	return HELLO_NOT;
}

/* Copies the first n bytes of the handshake, or as many as there are: their number. */
static size_t
copy_handshake(struct str records, uint8_t *to, size_t n)
{
	struct hello_part all = hello_part_of(records), fragment;
	size_t at = 0;

	while (at < n && next_fragment(&all, &fragment) == HELLO_WHOLE) {
		size_t some = MIN(fragment.len, n - at);

		if (some)
			memcpy(to + at, fragment.p, some);
		at += some;
	}
	return at;
}

/* The bytes of the message, with its head. 0: there is no such message. */
static size_t
message_len(const uint8_t head[MESSAGE_HEAD])
{
	size_t len = (size_t)head[1] << 16 | (size_t)head[2] << 8 | head[3];

	return len < 2 || len > HELLO_MAX ? 0 : len + MESSAGE_HEAD;
}

enum hello_found
hello_find(struct str bytes, struct hello_message *out)
{
	struct hello_part all = hello_part_of(bytes), fragment;
	size_t got = 0, fragments = 0, len = 0;
	uint8_t head[MESSAGE_HEAD];

	for (;;) {
		enum hello_found found = next_fragment(&all, &fragment);

		if (found != HELLO_WHOLE)
			return found;
		got += fragment.len;
		fragments++;
		if (!len && got >= MESSAGE_HEAD) {
			(void)copy_handshake(bytes, head, sizeof(head));
			len = message_len(head);
			if (!len)
				return HELLO_NOT;
		}
		if (len && got >= len)
			break;
	}
	*out = (struct hello_message){
		.records = bytes,
		.len = len,
		.p = fragments == 1 ? (const char *)fragment.p : NULL,
	};
	return HELLO_WHOLE;
}

struct str
hello_join(const struct hello_message *m, char *room)
{
	if (m->p)
		return (struct str){ m->p, m->len };
	return (struct str){ room, copy_handshake(m->records, (uint8_t *)room, m->len) };
}

/* --- extensions --- */

/* The first host name; an invalid one is ignored. */
static int
take_server_name(struct hello_part body, struct hello *out)
{
	struct hello_part list = hello_take_vector(&body, 2);

	while (list.len) {
		uint32_t type = hello_take_number(&list, 1);
		struct hello_part name = hello_take_vector(&list, 2);

		if (list.bad)
			return -1;
		if (type != NAME_HOST || out->name.p || !name.len || name.len > HELLO_NAME_MAX)
			continue;
		for (size_t i = 0; i < name.len; i++)
			if (name.p[i] <= ' ' || name.p[i] > '~')
				return -1;
		out->name = part_text(name);
	}
	return list.bad || body.bad || body.len ? -1 : 0;
}

static int
take_protocol(struct hello_part body, struct hello *out)
{
	struct hello_part list = hello_take_vector(&body, 2);

	while (list.len) {
		struct hello_part name = hello_take_vector(&list, 1);

		if (list.bad || !name.len)
			return -1;
		if (!out->protocol.p)
			out->protocol = part_text(name);
	}
	return list.bad || body.bad || body.len ? -1 : 0;
}

/* Reads an extension. None of those used may be repeated (RFC 8446 4.2). */
static int
take_extension(uint32_t type, struct hello_part body, unsigned int *seen, struct hello *out)
{
	unsigned int bit = type == EXT_NAME ? 1u
		: type == EXT_GROUPS        ? 2u
		: type == EXT_ALPN          ? 4u
		: type == EXT_TICKET        ? 8u
					    : 0u;

	if (*seen & bit)
		return -1;
	*seen |= bit;
	if (type == EXT_NAME)
		return take_server_name(body, out);
	if (type == EXT_ALPN)
		return take_protocol(body, out);
	if (type == EXT_GROUPS)
		out->has_groups = 1;
	else if (type == EXT_TICKET)
		out->ticket = body.len ? 2 : 1;
	return 0;
}

static int
take_extensions(struct hello_part *m, struct hello *out)
{
	struct hello_part all = hello_take_vector(m, 2);
	unsigned int seen = 0;

	while (all.len) {
		uint32_t type = hello_take_number(&all, 2);
		struct hello_part body = hello_take_vector(&all, 2);

		if (all.bad || take_extension(type, body, &seen, out) < 0)
			return -1;
	}
	return all.bad ? -1 : 0;
}

/* --- messages --- */

int
hello_read_fields(struct str message, struct hello_fields *out)
{
	struct hello_part m = hello_part_of(message);
	uint32_t type = hello_take_number(&m, 1);

	(void)hello_take_bytes(&m, MESSAGE_HEAD - 1);
	out->version = (uint16_t)hello_take_number(&m, 2);
	(void)hello_take_bytes(&m, RANDOM);
	out->session = hello_take_vector(&m, 1);
	out->ciphers = hello_take_vector(&m, 2);
	out->compressions = hello_take_vector(&m, 1);
	out->rest = m;
	return m.bad || type != CLIENT_HELLO ? -1 : 0;
}

static int
take_client(struct str message, struct hello *out)
{
	struct hello_fields f;

	if (hello_read_fields(message, &f) < 0 || f.session.len > SESSION_MAX || !f.ciphers.len ||
		f.ciphers.len % 2 || !f.compressions.len)
		return -1;
	/* Old hellos have no extensions. */
	if (f.rest.len && take_extensions(&f.rest, out) < 0)
		return -1;
	return f.rest.bad || f.rest.len ? -1 : 0;
}

void
hello_read(struct str message, struct hello *out)
{
	struct hello_part m = hello_part_of(message);
	struct hello h = { 0 };

	h.type = (uint8_t)hello_take_number(&m, 1);
	(void)hello_take_bytes(&m, MESSAGE_HEAD - 1);
	h.version = hello_take_number(&m, 1) << 16;
	h.version |= hello_take_number(&m, 1);
	*out = h;
	/* SSL 3.0 has no extensions. */
	if (h.type != CLIENT_HELLO || h.version >> 16 != 3 || h.version == 3u << 16)
		return;
	if (take_client(message, &h) == 0) {
		*out = h;
		out->is_client = 1;
	}
}

enum hello_found
hello_ssl2_version(struct str bytes, uint32_t *version)
{
	const unsigned char *p = (const unsigned char *)bytes.p;
	size_t len;

	if (!bytes.len)
		return HELLO_MORE;
	if (!(p[0] & 0x80))
		return HELLO_NOT;
	if (bytes.len < 2)
		return HELLO_MORE;
	len = (size_t)(p[0] & 0x7f) << 8 | p[1];
	if (len < SSL2_MIN || (bytes.len > 2 && p[2] != CLIENT_HELLO))
		return HELLO_NOT;
	if (bytes.len < len + 2)
		return HELLO_MORE;
	*version = (uint32_t)p[3] << 16 | p[4];
	return HELLO_WHOLE;
}
