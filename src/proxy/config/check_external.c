/* Checks the requirements of external checks: the permission of the section global, and a command.
 * Main thread, when the configuration is complete. */
#include "proxy/config/check_external.h"

#include "proxy/model/proxies.h"

static void
warn_needless(const struct proxy *p, const char *keyword, const char *text, struct cfg_diag *d)
{
	if (text)
		cfg_diag_add(d, CFG_WARNING, &p->where,
			"'%s' will be ignored for %s '%s' (requires 'option external-check').",
			keyword, proxy_kind(p), p->name);
}

int
check_external_finish(const struct proxy *p, const struct proxies *root, struct cfg_diag *d)
{
	const struct check_conf *c = &p->check;
	int bad = 0;

	if (c->method != CHECK_EXTERNAL) {
		warn_needless(p, "external-check command", c->command, d);
		warn_needless(p, "external-check path", c->path, d);
		return 0;
	}
	if (!root->external_checks) {
		cfg_diag_add(d, CFG_ALERT, &c->where,
			"Proxy '%s' : 'option external-check' unable to find required "
			"'global.external-check'.",
			p->name);
		bad = -1;
	}
	if (!c->command) {
		cfg_diag_add(d, CFG_ALERT, &c->where,
			"Proxy '%s' : 'option external-check' unable to find required "
			"'external-check command'.",
			p->name);
		bad = -1;
	} else if (c->command[0] != '/' && !c->path) {
		cfg_diag_add(d, CFG_ALERT, &c->where,
			"Proxy '%s': 'external-check command' does not have a leading '/' and "
			"'external-check path' is not set.",
			p->name);
		bad = -1;
	}
	return bad;
}
