/*
 * The first bytes of connections: a result is final, a complete hello needs all of its bytes and
 * none after them, its names are slices of it, and it is the same in whatever records it comes.
 * The capture of a client's hello agrees with it.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "net/tls_hello.h"
#include "tls/capture.c"

#define BYTES_MAX 2048

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
expect(int ok)
{
	if (!ok)
		abort();
}

/* The findings, with the message as a copy. */
struct result {
	enum hello_found found, found_ssl2;
	uint32_t version_ssl2;
	size_t len;
	char message[BYTES_MAX];
};

/* Memory of exactly that size, so that a read or write beyond it is detected. */
static char *
exact_copy(const void *p, size_t n)
{
	char *copy = malloc(n ? n : 1);

	expect(copy != NULL);
	if (n)
		memcpy(copy, p, n);
	return copy;
}

static void
find_in_copy(const uint8_t *data, size_t n, struct result *r)
{
	char *copy = exact_copy(data, n), *room = NULL;
	struct hello_message m;
	struct str text;

	r->len = 0;
	r->found = hello_find((struct str){ copy, n }, &m);
	r->found_ssl2 = hello_ssl2_version((struct str){ copy, n }, &r->version_ssl2);
	if (r->found == HELLO_WHOLE) {
		expect(m.len >= 6 && m.len <= n);
		room = m.p ? NULL : malloc(m.len);
		expect(m.p || room);
		text = hello_join(&m, room);
		expect(text.len == m.len);
		r->len = m.len;
		memcpy(r->message, text.p, text.len);
	}
	free(room);
	free(copy);
}

static void
copy_result(struct result *to, const struct result *from)
{
	memcpy(to, from, offsetof(struct result, message));
	if (from->len)
		memcpy(to->message, from->message, from->len);
}

static int
is_inside(struct str part, const char *p, size_t n)
{
	return part.p >= p && part.p + part.len <= p + n;
}

static void
read_message(const struct result *r, struct hello *h)
{
	char *copy = exact_copy(r->message, r->len);
	struct tls_capture *c = NULL;
	int64_t version;

	hello_read((struct str){ copy, r->len }, h);
	expect(h->is_client || (!h->name.p && !h->protocol.p && !h->has_groups && !h->ticket));
	if (h->name.p) {
		expect(is_inside(h->name, copy, r->len));
		expect(h->name.len > 0 && h->name.len <= HELLO_NAME_MAX);
		expect(!memchr(h->name.p, '\0', h->name.len));
	}
	if (h->protocol.p)
		expect(is_inside(h->protocol, copy, r->len) && h->protocol.len > 0);
	expect(tls_capture_hello(&c, 96, (const uint8_t *)copy, r->len) == 0);
	if (h->is_client) {
		expect(tls_capture_number(c, TLS_HELLO_VERSION, &version) == 0);
		expect(version == ((h->version >> 16 << 8) | (h->version & 0xff)));
	}
	tls_capture_free(&c);
	h->name.p = h->protocol.p = NULL;
	free(copy);
}

static void
add_record(uint8_t *to, size_t *n, uint8_t type, const char *p, size_t len)
{
	to[(*n)++] = type;
	to[(*n)++] = 3;
	to[(*n)++] = 1;
	to[(*n)++] = (uint8_t)(len >> 8);
	to[(*n)++] = (uint8_t)len;
	memcpy(to + *n, p, len);
	*n += len;
}

/* The message in other records, which the data chooses, is the same one. */
static void
cut_again(const struct result *r, const uint8_t *data, size_t size)
{
	static uint8_t to[64 * BYTES_MAX];
	struct hello_message m;
	size_t n = 0, at = 0;
	char *copy, *room;

	for (size_t i = 0; at < r->len; i++) {
		uint8_t dice = data[i % size];
		size_t some = dice % 7u + (i >= size);

		if (dice % 7 == 6)
			some = r->len - at;
		if (dice & 0x80)
			add_record(to, &n, 21, "\1\0", 2);
		if (dice & 0x40)
			add_record(to, &n, 20, "\1", 1);
		some = some < r->len - at ? some : r->len - at;
		add_record(to, &n, 22, r->message + at, some);
		at += some;
	}
	copy = exact_copy(to, n);
	room = malloc(r->len);
	expect(room != NULL);
	expect(hello_find((struct str){ copy, n - 1 }, &m) == HELLO_MORE);
	expect(hello_find((struct str){ copy, n }, &m) == HELLO_WHOLE && m.len == r->len);
	expect(memcmp(hello_join(&m, room).p, r->message, r->len) == 0);
	free(room);
	free(copy);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct result now, next;
	struct hello h;

	if (size > BYTES_MAX)
		size = BYTES_MAX;
	now.found = now.found_ssl2 = HELLO_MORE;
	now.len = 0;
	for (size_t n = 0; n <= size; n++) {
		find_in_copy(data, n, &next);
		expect(now.found == HELLO_MORE || next.found == now.found);
		expect(now.found_ssl2 == HELLO_MORE || next.found_ssl2 == now.found_ssl2);
		expect(now.found_ssl2 != HELLO_WHOLE || now.version_ssl2 == next.version_ssl2);
		expect(next.found != HELLO_WHOLE || n >= 11);
		if (now.found == HELLO_WHOLE)
			expect(now.len == next.len && !memcmp(now.message, next.message, now.len));
		copy_result(&now, &next);
	}
	if (now.found == HELLO_WHOLE) {
		read_message(&now, &h);
		cut_again(&now, data, size);
	}
	return 0;
}
