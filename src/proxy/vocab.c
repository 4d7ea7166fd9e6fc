#include "proxy/vocab.h"

#include <string.h>

#include "proxy/log_alias.h"
#include "rule/tables.h"

void
proxy_vocab_init(struct rule_vocab *v)
{
	int r;

	memset(v, 0, sizeof(*v));
	r = rule_tables_add(v);
	/* How many tables there are is known when this is compiled. */
	assert(r == 0);
	(void)r;
	v->aliases = log_aliases;
}
