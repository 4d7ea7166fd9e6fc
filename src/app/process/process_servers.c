/* A server that is added: its line, then what only the process has, TLS of its workers and checks.
 * On the first worker. */
#include "app/process/process_servers.h"

#include "app/config/tls_finish.h"
#include "app/process/confine.h"
#include "app/process/process_tls.h"
#include "base/err.h"
#include "proxy/check/checker.h"

/* Returns 0 if the process may connect to the server, which was settled at the start; otherwise -1,
 * with the reason in d. */
static int
check_connect(const struct process *p, const struct server *s, struct cfg_diag *d)
{
	char text[ADDR_TEXT];
	struct addr a;

	(void)addr_cell_get(&s->addr, &a);
	if (!(p->confined & CONFINED_ABSTRACT) || addr_family(&a) != AF_UNIX || a.u.un.sun_path[0])
		return 0;
	cfg_diag_add(d, CFG_ALERT, NULL,
		"this process may not connect to '%s': its configuration has no address 'abns@' "
		"but those of 'bind' lines.",
		addr_text(&a, text));
	return -1;
}

/* 0, or -1 after the reason was reported. */
static int
equip_server(struct process *p, struct server *s, struct cfg_diag *d)
{
	int r = check_connect(p, s, d) == 0 ? tls_finish_added(p->cfg, s, d) : -1;

	if (r)
		return -1;
	r = process_open_added_tls(p, s);
	if (!r)
		r = checker_add(p->checker, s) < 0 ? -ERR_NOMEM : 0;
	if (r)
		cfg_diag_add(d, CFG_ALERT, NULL, "%s",
			r == -ERR_UNSUPPORTED
				? "TLS of servers needs a 'bind' or 'server' line with 'ssl' in "
				  "the configuration."
				: err_text(r));
	return r ? -1 : 0;
}

struct server *
process_add_server(struct process *p, const struct server_line *line, struct cfg_diag *d)
{
	struct server *s = server_add(line, d);

	if (s && equip_server(p, s, d)) {
		server_remove(&p->cfg->proxies, s);
		s = NULL;
	}
	return s;
}
