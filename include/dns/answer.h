/*
 * The known records of a name. A name server may send a part of them only, another part each time:
 * a record stays for `hold obsolete` after the last response that had it.
 */
#ifndef TACIT_DNS_ANSWER_H
#define TACIT_DNS_ANSWER_H

#include <stdint.h>

#include "base/compiler.h"
#include "base/list.h"
#include "dns/message.h"

struct dns_item {
	struct list link;
	struct dns_record record;
	uint64_t seen_ms; /* time of the last response that had it, */
	uint64_t round;   /* and its number */
};

struct dns_answer {
	struct list items; /* struct dns_item.link; order of arrival */
	unsigned int n;
	uint64_t round;    /* number of responses */
};

void dns_answer_init(struct dns_answer *a);
void dns_answer_fini(struct dns_answer *a);
/* Adds the records of a response, renews those that are known, and removes those that no response
 * had for hold_ms. Without memory, new ones are left out. */
void dns_answer_merge(struct dns_answer *a, const struct dns_response *r, uint64_t now_ms,
	unsigned int hold_ms);

#endif
