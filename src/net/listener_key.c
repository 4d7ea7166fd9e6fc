/* Names of listening sockets. Pure. */
#include "net/listener_key.h"

#include <string.h>

#include "base/err.h"
#include "base/sbuf.h"
#include "net/listener.h"
#include "net/shards.h"
#include "net/sockbuf.h"

#define UNIX_PREFIX "unix@"

static const char hex_digits[] = "0123456789abcdef";

/* Bytes that would end the word, or the address in it, are written as %XX. */
static void
add_escaped(struct sbuf *b, const char *s)
{
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c > ' ' && c < 0x7f && c != '%' && c != ',') {
			sbuf_addc(b, *s);
			continue;
		}
		sbuf_addc(b, '%');
		sbuf_addc(b, hex_digits[c >> 4]);
		sbuf_addc(b, hex_digits[c & 15]);
	}
}

/* The number of its socket among those of the same address. */
static unsigned int
shard_of(const struct listener *ln)
{
	unsigned int shard = 0;

	for (unsigned int i = 0; ln->group && ln->group->of[i] != ln; i++)
		shard += !ln->group->of[i]->lead;
	return shard;
}

/* As configured: the kernel's choice of a port is not. */
static struct addr
configured_addr(const struct listener *ln)
{
	const struct listener *first = ln->first ? ln->first : ln;
	struct addr a = ln->addr;

	if (first->any_port)
		addr_set_port(&a, 0);
	return a;
}

/* Adds the protocol, and whether sizes of buffers are set: then they are fixed and not tuned any
 * more. */
static void
add_tcp(struct sbuf *out, const struct listener *ln)
{
	if (ln->is_mptcp)
		sbuf_adds(out, ",mptcp");
	if (ln->sockbuf && ln->sockbuf->rcv)
		sbuf_adds(out, ",rcvbuf");
	if (ln->sockbuf && ln->sockbuf->snd)
		sbuf_adds(out, ",sndbuf");
}

void
listener_key(const struct listener *ln, char key[LISTENER_KEY_MAX])
{
	const struct bind_conf *b = ln->bind;
	struct addr a = configured_addr(ln);
	unsigned int shard = shard_of(ln);
	char text[ADDR_TEXT];
	struct sbuf out;

	sbuf_init_fixed(&out, key, LISTENER_KEY_MAX);
	add_escaped(&out, addr_text(&a, text));
	if (ln->first ? ln->first->twin : ln->twin)
		sbuf_addf(&out, ",twin=%u", ln->first ? ln->first->twin : ln->twin);
	if (shard)
		sbuf_addf(&out, ",shard=%u", shard);
	if (b->netns) {
		sbuf_adds(&out, ",namespace=");
		add_escaped(&out, b->netns);
	}
	if (b->interface[0]) {
		sbuf_adds(&out, ",interface=");
		add_escaped(&out, b->interface);
	}
	if (b->v4v6 || b->v6only)
		sbuf_adds(&out, b->v6only ? ",v6only" : ",v4v6");
	if (b->transparent)
		sbuf_adds(&out, ",transparent");
	if (addr_family(&a) != AF_UNIX) {
		add_tcp(&out, ln);
		return;
	}
	if (b->mode)
		sbuf_addf(&out, ",mode=%o", (unsigned int)b->mode);
	if (b->uid != (uid_t)-1)
		sbuf_addf(&out, ",uid=%u", (unsigned int)b->uid);
	if (b->gid != (gid_t)-1)
		sbuf_addf(&out, ",gid=%u", (unsigned int)b->gid);
}

static int
hex_value(char c)
{
	const char *at = c ? strchr(hex_digits, c) : NULL;

	return at ? (int)(at - hex_digits) : 0;
}

int
listener_key_path(const char *key, char *path, size_t len)
{
	size_t n = 0;

	if (strncmp(key, UNIX_PREFIX, sizeof(UNIX_PREFIX) - 1) != 0)
		return -ERR_INVAL;
	for (key += sizeof(UNIX_PREFIX) - 1; *key && *key != ','; key++) {
		if (n + 1 >= len)
			return -ERR_INVAL;
		if (*key == '%' && key[1] && key[2]) {
			path[n++] = (char)(hex_value(key[1]) << 4 | hex_value(key[2]));
			key += 2;
		} else {
			path[n++] = *key;
		}
	}
	path[n] = '\0';
	return 0;
}
