/* The samples that keys of stick tables are made of. */
#ifndef TACIT_PROXY_MODEL_TABLE_SAMPLE_H
#define TACIT_PROXY_MODEL_TABLE_SAMPLE_H

#include "rule/sample/sample.h"
#include "table/table.h"

/* The type that a sample is cast to for a key of such a table. */
static inline enum sample_type
table_sample_type(const struct table_conf *c)
{
	static const enum sample_type types[TABLE_TYPES] = {
		[TABLE_INTEGER] = SAMPLE_SINT,
		[TABLE_IPV4] = SAMPLE_IPV4,
		[TABLE_IPV6] = SAMPLE_IPV6,
		[TABLE_STRING] = SAMPLE_STR,
		[TABLE_BINARY] = SAMPLE_BIN,
	};

	return types[c->type];
}

#endif
