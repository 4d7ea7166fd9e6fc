/*
 * The first bytes of connections: a result is final, a complete hello needs all of its bytes and
 * none after them, and its names are slices of it.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "rule/sample/hello.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
expect(int ok)
{
	if (!ok)
		abort();
}

/* The memory has exactly that size, so that a read beyond it is detected. */
static enum hello_found
parse_copy(const uint8_t *data, size_t n, struct hello *h, uint32_t *version, int *versions)
{
	char *copy = malloc(n ? n : 1);
	enum hello_found found;

	expect(copy != NULL);
	if (n)
		memcpy(copy, data, n);
	memset(h, 0, sizeof(*h));
	found = hello_parse((struct str){ copy, n }, h);
	*versions = (int)hello_version((struct str){ copy, n }, version);
	if (h->name.p) {
		expect(h->name.p >= copy && h->name.p + h->name.len <= copy + n);
		expect(h->name.len > 0 && h->name.len <= HELLO_NAME_MAX);
		expect(!memchr(h->name.p, '\0', h->name.len) && h->is_client);
		h->name.p = (const char *)data + (h->name.p - copy);
	}
	if (h->protocol.p) {
		expect(h->protocol.p >= copy && h->protocol.p + h->protocol.len <= copy + n);
		expect(h->is_client);
		h->protocol.p = (const char *)data + (h->protocol.p - copy);
	}
	free(copy);
	return found;
}

static int
is_same(const struct hello *a, const struct hello *b)
{
	return a->type == b->type && a->version == b->version && a->is_client == b->is_client &&
		a->name.p == b->name.p && a->name.len == b->name.len &&
		a->protocol.p == b->protocol.p && a->protocol.len == b->protocol.len &&
		a->has_groups == b->has_groups && a->ticket == b->ticket;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum hello_found now = HELLO_MORE, next;
	int versions = HELLO_MORE, next_versions;
	uint32_t version = 0, next_version = 0;
	struct hello h = { 0 }, g = { 0 };

	if (size > 2048)
		size = 2048;
	for (size_t n = 0; n <= size; n++) {
		next = parse_copy(data, n, &g, &next_version, &next_versions);
		expect(now == HELLO_MORE || next == now);
		expect(versions == HELLO_MORE || next_versions == versions);
		expect(now != HELLO_WHOLE || is_same(&g, &h));
		expect(versions != HELLO_WHOLE || version == next_version);
		expect(next != HELLO_WHOLE || (n >= 11 && next_versions == HELLO_WHOLE));
		now = next;
		versions = next_versions;
		version = next_version;
		h = g;
	}
	return 0;
}
