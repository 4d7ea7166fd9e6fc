/*
 * PROXY protocol headers: a result is final, a complete header needs all of its bytes and none
 * after them, and it contains two addresses of one family.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "net/proxy_header.h"
#include "unit/net/net_rig.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
expect(int ok)
{
	if (!ok)
		abort();
}

/* The memory has exactly that size, so that a read beyond it is detected. */
static enum proxy_header_found
parse_copy(const uint8_t *data, size_t n, size_t max, struct proxy_header *out)
{
	uint8_t *copy = malloc(n ? n : 1);
	enum proxy_header_found found;

	expect(copy != NULL);
	if (n)
		memcpy(copy, data, n);
	found = proxy_header_parse(copy, n, max, out);
	free(copy);
	return found;
}

static void
check(const struct proxy_header *h, size_t n, size_t max)
{
	expect(h->len == n && n >= 15 && n <= max && h->err == CONN_ERR_NONE);
	if (!h->announces) {
		expect(h->src.len == 0 && h->dst.len == 0);
		return;
	}
	expect(addr_family(&h->src) == AF_INET || addr_family(&h->src) == AF_INET6);
	expect(addr_family(&h->src) == addr_family(&h->dst));
}

static void
check_with_room(const uint8_t *data, size_t size, size_t max)
{
	enum proxy_header_found now = PROXY_HEADER_MORE, next;
	struct proxy_header h = { 0 }, g = { 0 };

	for (size_t n = 0; n <= size; n++) {
		next = parse_copy(data, n, max, &g);
		expect(now == PROXY_HEADER_MORE || (next == now && g.len == h.len &&
			g.err == h.err && g.announces == h.announces &&
			same_addr(&g.src, &h.src) && same_addr(&g.dst, &h.dst)));
		if (next == PROXY_HEADER_WHOLE && now == PROXY_HEADER_MORE)
			check(&g, n, max);
		expect(next != PROXY_HEADER_BAD || g.err != CONN_ERR_NONE);
		expect(next != PROXY_HEADER_MORE || n < max);
		now = next;
		h = g;
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size = MIN(size, 1024);
	check_with_room(data, size, PROXY_HEADER_MAX);
	check_with_room(data, size, PROXY_HEADER_V1_MAX);
	return 0;
}
