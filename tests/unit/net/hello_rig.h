/* TLS hellos made from their parts, valid and invalid. */
#ifndef TACIT_TEST_RULE_HELLO_RIG_H
#define TACIT_TEST_RULE_HELLO_RIG_H

#include <string.h>

#include "base/str.h"

struct hello_parts {
	const char *record;      /* its version, 2 bytes; NULL: 3.1 */
	const char *version;     /* the message's; NULL: 3.3 */
	int type;                /* the message's; 0: 1 */
	size_t session, ciphers; /* their lengths in bytes; ciphers 0: 2 */
	int no_ciphers, no_compressions;
	int no_extensions;
	struct str extensions;
	int more_message, more_record; /* added to the length fields */
	struct str behind;             /* follows in the message */
};

static char hello_bytes[4096];

static inline void
hello_put(size_t *at, unsigned int v, size_t n)
{
	while (n--)
		hello_bytes[(*at)++] = (char)(v >> (8 * n));
}

static inline void
hello_add(size_t *at, const char *p, size_t n)
{
	if (n)
		memcpy(hello_bytes + *at, p, n);
	*at += n;
}

static inline struct str
hello_make(const struct hello_parts *h)
{
	size_t ciphers = h->no_ciphers ? 0 : h->ciphers ? h->ciphers : 2;
	size_t len = 2 + 32 + 1 + h->session + 2 + ciphers + 1 + (h->no_compressions ? 0 : 1) +
		(h->no_extensions ? 0 : 2 + h->extensions.len) + h->behind.len;
	size_t at = 0;

	memset(hello_bytes, 0, sizeof(hello_bytes));
	hello_put(&at, 22, 1);
	hello_add(&at, h->record ? h->record : "\3\1", 2);
	hello_put(&at, (unsigned int)((int)len + 4 + h->more_record), 2);
	hello_put(&at, h->type ? (unsigned int)h->type : 1, 1);
	hello_put(&at, (unsigned int)((int)len + h->more_message), 3);
	hello_add(&at, h->version ? h->version : "\3\3", 2);
	at += 32;
	hello_put(&at, (unsigned int)h->session, 1);
	at += h->session;
	hello_put(&at, (unsigned int)ciphers, 2);
	at += ciphers;
	hello_put(&at, h->no_compressions ? 0 : 1, 1);
	at += h->no_compressions ? 0 : 1;
	if (!h->no_extensions) {
		hello_put(&at, (unsigned int)h->extensions.len, 2);
		hello_add(&at, h->extensions.p, h->extensions.len);
	}
	if (h->behind.len)
		hello_add(&at, h->behind.p, h->behind.len);
	return (struct str){ hello_bytes, at };
}

#define HELLO_SNI_A "\0\0\0\6\0\4\0\0\1a"
#define HELLO_ALPN "\0\20\0\16\0\14\2h2\10http/1.1"
#define HELLO_GROUPS "\0\12\0\4\0\2\0\27"
#define HELLO_TICKET "\0\43\0\0"

#endif
