/*
 * DNS messages (RFC 1035, 2782, 6891): queries out, responses in. No socket and no clock.
 *
 * c-ares writes queries and expands compressed names; it is included in message.c only. Its
 * channel, which also sends and retries, is not used: it has no statistics of single name servers,
 * asks them one after the other instead of all at once, and does not report the error codes that
 * `hold` distinguishes. Its parsers of whole responses drop the additional section, in which
 * servers send the addresses of SRV targets.
 */
#ifndef TACIT_DNS_MESSAGE_H
#define TACIT_DNS_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "net/addr.h"

#define DNS_NAME_MAX 255     /* a name as text, without a final dot */
#define DNS_QUERY_MAX 300    /* longest query with an OPT record */
#define DNS_RECORDS_MAX 1024 /* records of a response that are used */
#define DNS_CNAMES_MAX 16    /* aliases that are followed */

enum dns_type { DNS_A = 1, DNS_CNAME = 5, DNS_AAAA = 28, DNS_SRV = 33 };

/* The status of a response; the first row of errors is what `hold` distinguishes. */
enum dns_status {
	DNS_VALID,
	DNS_NX,          /* no such name */
	DNS_REFUSED,
	DNS_TIMEOUT,     /* none came */
	DNS_SERVER_ERROR, /* any other error code */
	DNS_NO_RECORD,   /* no record of the type */
	DNS_CNAME_ERROR, /* aliases that lead nowhere */
	DNS_TRUNCATED,
	DNS_INVALID,     /* no message, or not a response to the question */
	DNS_STATUSES
};

struct dns_record {
	enum dns_type type;
	struct addr addr;    /* A, AAAA: port 0. SRV: of the target, if the response has it; or
			      * len 0 */
	uint16_t priority, weight, port; /* SRV */
	char target[DNS_NAME_MAX + 1];   /* SRV */
};

struct dns_response {
	enum dns_status status;
	int has_cname;
	unsigned int n;             /* 0 unless DNS_VALID */
	struct dns_record *record;  /* owned */
};

/* Copies a host name in lower case, without a final dot. 0, or -ERR_INVAL: it is empty, too long,
 * or has labels that are. */
int dns_name_set(char out[DNS_NAME_MAX + 1], const char *name) must_check;
/* Writes a query with the flag "recursion desired"; payload is announced in its OPT record. Its
 * length, or -ERR_INVAL or -ERR_NOMEM. */
int dns_query_write(uint8_t out[DNS_QUERY_MAX], const char *name, enum dns_type type, uint16_t id,
	unsigned int payload) must_check;
/* The id of a message of at least two bytes. */
uint16_t dns_message_id(const uint8_t *p);
/* Parses a response to the question of this name and type. `out` needs dns_response_fini(). 0, or
 * -ERR_NOMEM. */
int dns_response_parse(struct dns_response *out, const uint8_t *p, size_t n, const char *name,
	enum dns_type type) must_check;
void dns_response_fini(struct dns_response *r);

#endif
