/*
 * DNS responses. The first byte selects the question; the rest is the message, with the name of its
 * own question. Only a valid response has records, all of the requested type, with complete names
 * and addresses.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "dns/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
expect(int ok)
{
	if (!ok)
		abort();
}

static void
check_record(const struct dns_record *r, enum dns_type type)
{
	expect(r->type == type);
	if (type == DNS_SRV)
		expect(r->target[0] && memchr(r->target, '\0', sizeof(r->target)));
	else
		expect(addr_family(&r->addr) == (type == DNS_A ? AF_INET : AF_INET6));
	if (r->addr.len)
		expect(addr_port(&r->addr) == 0);
}

/* The labels of the question if they are plain; "app.x" otherwise. */
static void
read_question(const uint8_t *p, size_t n, char name[DNS_NAME_MAX + 1])
{
	char text[DNS_NAME_MAX + 1];
	size_t at = 12, len = 0;

	while (at < n && p[at] && p[at] < 64 && at + p[at] < n && len + p[at] + 1 < sizeof(text)) {
		if (len)
			text[len++] = '.';
		memcpy(text + len, p + at + 1, p[at]);
		len += p[at];
		at += 1 + p[at];
	}
	text[len] = '\0';
	if (dns_name_set(name, text) < 0)
		strcpy(name, "app.x");
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const enum dns_type types[] = { DNS_A, DNS_AAAA, DNS_SRV };
	char name[DNS_NAME_MAX + 1];
	struct dns_response r;
	enum dns_type type;
	uint8_t *copy;

	if (size < 1)
		return 0;
	type = types[data[0] % ARRAY_LEN(types)];
	size--;
	copy = malloc(size ? size : 1);
	expect(copy != NULL);
	memcpy(copy, data + 1, size);
	read_question(copy, size, name);
	expect(dns_response_parse(&r, copy, size, name, type) == 0);
	expect((r.status == DNS_VALID) == (r.n > 0) && r.n <= DNS_RECORDS_MAX);
	for (unsigned int i = 0; i < r.n; i++)
		check_record(&r.record[i], type);
	dns_response_fini(&r);
	free(copy);
	return 0;
}
