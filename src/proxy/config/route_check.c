/* use_backend lines while a configuration is read: see route.c for what they do. */
#include "base/mem.h"
#include "proxy/model/proxies.h"
#include "proxy/sample/route.h"

void
use_backend_free(struct use_backend **u)
{
	if (!*u)
		return;
	rule_cond_free(&(*u)->cond);
	rule_fmt_free(&(*u)->fmt);
	mem_free((*u)->name);
	mem_free(*u);
	*u = NULL;
}

void
route_check(const struct proxy *fe, struct use_backend *u, struct proxies *root,
	struct cfg_diag *d)
{
	unsigned int uses = (u->cond ? rule_cond_uses(u->cond) : 0) |
		(u->fmt ? rule_fmt_uses(u->fmt) : 0);
	struct rule_err why;

	u->all = root;
	u->looks = fe->mode == PROXY_TCP && (uses & SAMPLE_AT_REQ);
	if (u->looks && !(fe->rules.inspect_ms &&
			proxy_has_rules(&fe->rules, RULE_TCP_REQ_CONTENT)))
		cfg_diag_add(d, CFG_WARNING, &u->where,
			"'use_backend' : the condition needs data from the client, which only a "
			"'tcp-request content' rule with a 'tcp-request inspect-delay' waits "
			"for.");
	if ((u->cond && rule_cond_check(u->cond, root, &why) < 0) ||
		(u->fmt && rule_fmt_check(u->fmt, root, &why) < 0))
		cfg_diag_add(d, CFG_ALERT, &u->where, "'use_backend' : %s.", why.text);
}
