#include "rule/tables.h"

int
rule_tables_add(struct rule_vocab *v)
{
	static const struct rule_fetch *const fetches[] = {
		rule_misc_fetches,
	};
	int r = 0;

	for (size_t i = 0; !r && i < ARRAY_LEN(fetches); i++)
		r = rule_vocab_add_fetches(v, fetches[i]);
	return r;
}
