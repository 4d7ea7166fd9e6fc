/* Lists of a client's hello and secrets, as copies, and the number of key updates. On the worker of
 * the connection; a length that goes beyond the bytes at hand is never used. */
#include "tls/capture.h"

#include <string.h>
#include <xxhash.h>

#include "base/err.h"
#include "base/mem.h"
#include "event/loop.h"
#include "net/tls_hello.h"
#include "tls/conn_info.h"
#include "tls/openssl.h"
#include "tls/tls_conf.h"
#include "tls/transport.h"

enum { EXT_GROUPS = 10, EXT_POINT_FORMATS = 11 };

struct tls_capture {
	uint64_t ciphers_hash;         /* of all, also of those that are not kept */
	uint16_t version;
	uint8_t has_hello;
	uint16_t len[TLS_HELLO_LISTS]; /* bytes, one list behind the other */
	char *secret[TLS_SECRETS];     /* NULL: none */
	uint8_t *lists;
};

/* --- the hello --- */

static size_t
room_left(const struct tls_capture *c, size_t room)
{
	for (unsigned int i = 0; i < TLS_HELLO_LISTS; i++)
		room -= c->len[i];
	return room;
}

/* As much as there is room for. */
static void
add_to_list(struct tls_capture *c, enum tls_hello_list list, const uint8_t *p, size_t n,
	size_t room)
{
	size_t left = room_left(c, room), used = room - left;

	n = MIN(n, left);
	/* The list of an extension that is missing has no bytes. */
	if (n)
		memcpy(c->lists + used, p, n);
	c->len[list] = (uint16_t)(c->len[list] + n);
}

/* Adds the extensions. An invalid list adds nothing, and ends them. */
static void
add_extensions(struct tls_capture *c, struct hello_part all, size_t room)
{
	struct hello_part groups = { NULL, 0, 0 }, formats = { NULL, 0, 0 };

	while (all.len && !groups.bad && !formats.bad) {
		const uint8_t *type = all.p;
		size_t number = hello_take_number(&all, 2);
		struct hello_part body = hello_take_vector(&all, 2);

		if (all.bad)
			break;
		if (room_left(c, room) >= 2)
			add_to_list(c, TLS_HELLO_EXTENSIONS, type, 2, room);
		if (number == EXT_GROUPS)
			groups = hello_take_vector(&body, 2);
		else if (number == EXT_POINT_FORMATS)
			formats = hello_take_vector(&body, 1);
	}
	/* Whole numbers of groups. */
	if (!groups.bad)
		add_to_list(c, TLS_HELLO_GROUPS, groups.p,
			MIN(groups.len, room_left(c, room) & ~(size_t)1), room);
	if (!formats.bad)
		add_to_list(c, TLS_HELLO_POINT_FORMATS, formats.p, formats.len, room);
}

static struct tls_capture *
get_capture(struct tls_capture **c)
{
	if (!*c)
		*c = mem_zalloc(sizeof(**c));
	return *c;
}

/* Keeps at most `room` bytes of the lists of a client's hello: a handshake message with its head.
 * A second one replaces the first, as in HAProxy; what is no hello is ignored. 0 or -ERR_NOMEM. */
static int
tls_capture_hello(struct tls_capture **cp, size_t room, const uint8_t *message, size_t len)
{
	struct hello_fields f;
	struct tls_capture *c;

	if (hello_read_fields((struct str){ (const char *)message, len }, &f) < 0)
		return 0;
	c = get_capture(cp);
	if (c && !c->lists)
		c->lists = mem_alloc(room);
	if (!c || !c->lists)
		return -ERR_NOMEM;
	memset(c->len, 0, sizeof(c->len));
	c->has_hello = 1;
	c->version = f.version;
	c->ciphers_hash = XXH64(f.ciphers.p, f.ciphers.len, 0);
	add_to_list(c, TLS_HELLO_CIPHERS, f.ciphers.p, f.ciphers.len, room);
	if (f.rest.len)
		add_extensions(c, hello_take_vector(&f.rest, 2), room);
	return 0;
}

/* --- secrets --- */

/* Keeps the secret of a line of a key log file. 0 or -ERR_NOMEM. */
static int
tls_capture_secret(struct tls_capture **cp, const char *line)
{
	static const char *const labels[TLS_SECRETS] = {
		[TLS_CLIENT_EARLY_TRAFFIC_SECRET] = "CLIENT_EARLY_TRAFFIC_SECRET",
		[TLS_CLIENT_HANDSHAKE_TRAFFIC_SECRET] = "CLIENT_HANDSHAKE_TRAFFIC_SECRET",
		[TLS_SERVER_HANDSHAKE_TRAFFIC_SECRET] = "SERVER_HANDSHAKE_TRAFFIC_SECRET",
		[TLS_CLIENT_TRAFFIC_SECRET_0] = "CLIENT_TRAFFIC_SECRET_0",
		[TLS_SERVER_TRAFFIC_SECRET_0] = "SERVER_TRAFFIC_SECRET_0",
		[TLS_EXPORTER_SECRET] = "EXPORTER_SECRET",
		[TLS_EARLY_EXPORTER_SECRET] = "EARLY_EXPORTER_SECRET",
	};
	const char *end = strchr(line, ' '), *secret = end ? strchr(end + 1, ' ') : NULL;
	struct tls_capture *c;

	for (unsigned int i = 0; secret && i < TLS_SECRETS; i++) {
		if (strlen(labels[i]) != (size_t)(end - line) ||
			memcmp(labels[i], line, (size_t)(end - line)) != 0)
			continue;
		c = get_capture(cp);
		if (!c || c->secret[i])
			return c ? 0 : -ERR_NOMEM;
		return mem_copy_string(&c->secret[i], secret + 1);
	}
	return 0;
}

void
tls_capture_free(struct tls_capture **cp)
{
	struct tls_capture *c = *cp;

	if (!c)
		return;
	*cp = NULL;
	for (unsigned int i = 0; i < TLS_SECRETS; i++) {
		if (c->secret[i])
			OPENSSL_cleanse(c->secret[i], strlen(c->secret[i]));
		mem_free(c->secret[i]);
	}
	mem_free(c->lists);
	mem_free(c);
}

/* --- questions --- */

/* RFC 8701: 0x0a0a, 0x1a1a ... 0xfafa. */
static int
number_is_grease(const uint8_t *p)
{
	return p[0] == p[1] && (p[0] & 0xf) == 0xa;
}

static const uint8_t *
list_at(const struct tls_capture *c, enum tls_hello_list list)
{
	const uint8_t *p = c->lists;

	for (unsigned int i = 0; i < list; i++)
		p += c->len[i];
	return p;
}

int
tls_capture_list(const struct tls_capture *c, enum tls_hello_list list, int without_grease,
	struct sbuf *out)
{
	const uint8_t *p;
	size_t n;

	if (!c || !c->has_hello)
		return -ERR_UNKNOWN;
	p = list_at(c, list);
	n = c->len[list];
	if (!without_grease || list == TLS_HELLO_POINT_FORMATS) {
		sbuf_add(out, (const char *)p, n);
		return 0;
	}
	for (size_t i = 0; i < n; i += 2)
		if (i + 1 == n || !number_is_grease(p + i))
			sbuf_add(out, (const char *)p + i, MIN(n - i, 2u));
	return 0;
}

int
tls_capture_number(const struct tls_capture *c, enum tls_hello_number what, int64_t *out)
{
	if (!c || !c->has_hello)
		return -ERR_UNKNOWN;
	*out = what == TLS_HELLO_VERSION ? c->version : (int64_t)c->ciphers_hash;
	return 0;
}

int
tls_capture_secret_text(const struct tls_capture *c, enum tls_secret which, struct sbuf *out)
{
	if (!c || !c->secret[which])
		return -ERR_UNKNOWN;
	sbuf_adds(out, c->secret[which]);
	return 0;
}

/* --- callbacks of a handshake --------------------------------------------------------------- */

static struct tls *
tls_of_ssl(const SSL *ssl)
{
	const struct tls_io *io = BIO_get_data(SSL_get_rbio(ssl));

	return io ? io->cur : NULL;
}

/* Each makes OpenSSL derive keys, which costs more than the peer has to pay for it. */
static void
count_key_update(struct tls *t, const struct tls_conf *conf)
{
	uint32_t second = (uint32_t)(loop_now_ms(t->io->conn->loop) / 1000);

	if (second != t->key_second) {
		t->key_second = second;
		t->key_updates = 0;
	}
	t->key_updates++;
	if (conf->key_updates && t->key_updates > (uint32_t)conf->key_updates)
		t->is_flooded = 1;
}

/* Without memory the fetches have no value. */
static void
on_message(int is_written, int version unused, int type, const void *bytes, size_t len, SSL *ssl,
	void *arg)
{
	const struct tls_conf *conf = arg;
	const uint8_t *p = bytes;
	struct tls *t = !is_written && type == SSL3_RT_HANDSHAKE ? tls_of_ssl(ssl) : NULL;

	if (!t || !len)
		return;
	if (p[0] == SSL3_MT_KEY_UPDATE)
		count_key_update(t, conf);
	else if (conf->capture_size && SSL_is_server(ssl))
		(void)!tls_capture_hello(&t->capture, (size_t)conf->capture_size, bytes, len);
}

static void
on_key(const SSL *ssl, const char *line)
{
	struct tls *t = tls_of_ssl(ssl);

	if (t)
		(void)!tls_capture_secret(&t->capture, line);
}

void
tls_capture_enable(SSL_CTX *ctx, const struct tls_conf *conf, int accepts)
{
	if (conf->key_updates || (accepts && conf->capture_size)) {
		SSL_CTX_set_msg_callback(ctx, on_message);
		(void)SSL_CTX_set_msg_callback_arg(ctx, (void *)(uintptr_t)conf);
	}
	if (accepts && conf->keylog)
		SSL_CTX_set_keylog_callback(ctx, on_key);
}

/* --- questions --- */

const struct tls_capture *
tls_capture_of(const struct conn *c)
{
	const struct tls *t = tls_below(c);

	return t ? t->capture : NULL;
}

int
tls_capture_cipher_names(const struct conn *conn, int without_grease, struct sbuf *out)
{
	const struct tls *t = tls_below(conn);
	struct sbuf list;
	int r;

	sbuf_init(&list, UINT16_MAX);
	r = tls_capture_list(
		t ? t->capture : NULL, TLS_HELLO_CIPHERS, without_grease, &list);
	for (size_t i = 0; r == 0 && i + 1 < list.len; i += 2) {
		const uint8_t *p = (const uint8_t *)list.p;
		const SSL_CIPHER *cipher = SSL_CIPHER_find(t->ssl, p + i);

		sbuf_adds(out, i ? "," : "");
		if (cipher)
			sbuf_adds(out, SSL_CIPHER_get_name(cipher));
		else
			sbuf_addf(out, "UNKNOWN(%04x)", (unsigned int)(p[i] << 8 | p[i + 1]));
	}
	sbuf_fini(&list);
	return r;
}
