/* The list of keywords that -dK prints. Main thread. */
#include "app/config/keywords.h"

#include "base/err.h"
#include "base/sbuf.h"
#include "rule/action/action_dump.h"
#include "rule/sample/dump.h"

int
keywords_print(const struct config *c, enum cfg_dump kind, FILE *to)
{
	const struct rule_vocab *v = &c->proxies.vocab;
	struct sbuf out;
	int failed;

	cfg_dump(&c->registry, kind, to);
	sbuf_init(&out, 0);
	if (kind == CFG_DUMP_MAN) {
		rule_dump_actions_man(v, &out);
		rule_dump_man(v, &out);
	}
	if (kind == CFG_DUMP_SMP || kind == CFG_DUMP_ALL)
		rule_dump_fetches(v, &out);
	if (kind == CFG_DUMP_CNV || kind == CFG_DUMP_ALL)
		rule_dump_convs(v, &out);
	failed = out.failed;
	if (out.len > 0)
		fputs(out.p, to);
	sbuf_fini(&out);
	return failed ? -ERR_NOMEM : 0;
}
