/* Reads a TLS client hello. Sans-I/O. No length is believed that the bytes at hand do not
 * cover. */
#include "rule/sample/hello.h"

#include <string.h>

enum {
	RECORD_HEAD = 5,
	MESSAGE_HEAD = 4,
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

/* The rest of a part. After an invalid length it is `bad` and empty. */
struct part {
	const unsigned char *p;
	size_t len;
	int bad;
};

static struct part
part_from(struct str s)
{
	return (struct part){ (const unsigned char *)s.p, s.len, 0 };
}

static struct part
take_bytes(struct part *from, size_t n)
{
	struct part out = { from->p, n, from->bad };

	if (from->bad || n > from->len) {
		from->bad = 1;
		from->len = 0;
		return (struct part){ NULL, 0, 1 };
	}
	from->p += n;
	from->len -= n;
	return out;
}

/* A number of n bytes in network byte order. */
static uint32_t
take_uint(struct part *from, size_t n)
{
	struct part b = take_bytes(from, n);
	uint32_t v = 0;

	for (size_t i = 0; i < b.len; i++)
		v = v << 8 | b.p[i];
	return v;
}

/* A vector: its length in n bytes, followed by that many bytes. */
static struct part
take_vector(struct part *from, size_t n)
{
	return take_bytes(from, take_uint(from, n));
}

static struct str
part_text(struct part p)
{
	return (struct str){ (const char *)p.p, p.len };
}

/* --- extensions --- */

/* The first host name; an invalid one is ignored. */
static int
take_server_name(struct part body, struct hello *out)
{
	struct part list = take_vector(&body, 2);

	while (list.len) {
		uint32_t type = take_uint(&list, 1);
		struct part name = take_vector(&list, 2);

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
take_protocol(struct part body, struct hello *out)
{
	struct part list = take_vector(&body, 2);

	while (list.len) {
		struct part name = take_vector(&list, 1);

		if (list.bad || !name.len)
			return -1;
		if (!out->protocol.p)
			out->protocol = part_text(name);
	}
	return list.bad || body.bad || body.len ? -1 : 0;
}

/* Of the extensions used here none may be repeated (RFC 8446 4.2). */
static int
take_extension(uint32_t type, struct part body, unsigned int *seen, struct hello *out)
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
take_extensions(struct part *m, struct hello *out)
{
	struct part all = take_vector(m, 2);
	unsigned int seen = 0;

	while (all.len) {
		uint32_t type = take_uint(&all, 2);
		struct part body = take_vector(&all, 2);

		if (all.bad || take_extension(type, body, &seen, out) < 0)
			return -1;
	}
	return all.bad ? -1 : 0;
}

/* --- messages --- */

static int
take_client(struct part m, struct hello *out)
{
	struct part ciphers, compressions, session;

	(void)take_bytes(&m, 2);
	(void)take_bytes(&m, RANDOM);
	session = take_vector(&m, 1);
	ciphers = take_vector(&m, 2);
	compressions = take_vector(&m, 1);
	if (m.bad || session.len > SESSION_MAX || !ciphers.len || ciphers.len % 2 ||
		!compressions.len)
		return -1;
	/* Old hellos have no extensions. */
	if (m.len && take_extensions(&m, out) < 0)
		return -1;
	return m.bad || m.len ? -1 : 0;
}

/* True if the bytes so far begin a record with a handshake message. */
static int
is_record(struct str b)
{
	const unsigned char *p = (const unsigned char *)b.p;

	return !(b.len > 0 && p[0] != HANDSHAKE) && !(b.len > 1 && p[1] != 3);
}

enum hello_found
hello_parse(struct str bytes, struct hello *out)
{
	struct part all = part_from(bytes), message;
	uint32_t record, len;
	struct hello h = { 0 };

	if (!is_record(bytes))
		return HELLO_NOT;
	if (bytes.len < RECORD_HEAD + MESSAGE_HEAD)
		return HELLO_MORE;
	(void)take_bytes(&all, 3);
	record = take_uint(&all, 2);
	h.type = (uint8_t)take_uint(&all, 1);
	len = take_uint(&all, 3);
	/* A message that continues in another record is not supported. */
	if (record < MESSAGE_HEAD || len > record - MESSAGE_HEAD || len < 2)
		return HELLO_NOT;
	if (all.len < len)
		return HELLO_MORE;
	message = take_bytes(&all, len);
	h.version = (uint32_t)message.p[0] << 16 | message.p[1];
	*out = h;
	/* SSL 3.0 has no extensions. */
	if (h.type != CLIENT_HELLO || h.version >> 16 != 3 || h.version == 3u << 16)
		return HELLO_WHOLE;
	if (take_client(message, &h) == 0) {
		*out = h;
		out->is_client = 1;
	}
	return HELLO_WHOLE;
}

static enum hello_found
ssl2_version(struct str bytes, uint32_t *version)
{
	const unsigned char *p = (const unsigned char *)bytes.p;
	size_t len;

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

enum hello_found
hello_version(struct str bytes, uint32_t *version)
{
	enum hello_found found;
	struct hello h;

	if (bytes.len && ((unsigned char)bytes.p[0] & 0x80))
		return ssl2_version(bytes, version);
	found = hello_parse(bytes, &h);
	if (found == HELLO_WHOLE)
		*version = h.version;
	return found;
}
