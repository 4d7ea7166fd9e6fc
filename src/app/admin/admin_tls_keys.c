/* Keys of TLS tickets at run time (management manual 9.3). On the first worker; the others are
 * paused for the moment of a change only. */
#include <stdlib.h>
#include <string.h>

#include "app/admin/admin_int.h"
#include "base/err.h"
#include "tls/tickets.h"
#include "tls/tls_conf.h"

/* By "#<id>" or the name of the file. */
static struct tls_tickets *
find_tickets(const struct admin_conn *c, const char *name)
{
	list_each(it, &c->admin->process->cfg->tls.ticket_files) {
		struct tls_tickets *t = list_entry(it, struct tls_tickets, link);
		char *end;

		if (name[0] != '#'
				? strcmp(t->file, name) == 0
				: strtoul(name + 1, &end, 10) == t->id && end > name + 1 && !*end)
			return t;
	}
	return NULL;
}

static void
show_keys(struct admin_conn *c, const struct tls_tickets *t)
{
	sbuf_addf(&c->out, "# %u (%s)\n", t->id, t->file);
	for (unsigned int i = 0; i < TLS_TICKETS_NO; i++) {
		sbuf_addf(&c->out, "%u.%u ", t->id, i);
		tls_tickets_show(t, i, &c->out);
		sbuf_addc(&c->out, '\n');
	}
}

/* Names for everybody; the keys can decrypt what clients have sent. */
void
admin_cmd_show_tls_keys(struct admin_conn *c, int argc, char **argv)
{
	const struct tls_tickets *one = NULL;
	int all = argc > 0 && strcmp(argv[0], "*") == 0;

	if (argc > 0 && c->level < BIND_ADMIN) {
		admin_msg(c, ADMIN_ERR, "Permission denied");
		return;
	}
	if (argc > 0 && !all) {
		one = find_tickets(c, argv[0]);
		if (!one) {
			admin_msg(c, ADMIN_ERR,
				"'show tls-keys' unable to locate referenced filename");
			return;
		}
	}
	sbuf_adds(&c->out, argc > 0 ? "# id secret\n" : "# id (file)\n");
	list_each(it, &c->admin->process->cfg->tls.ticket_files) {
		const struct tls_tickets *t = list_entry(it, const struct tls_tickets, link);

		if (argc <= 0)
			sbuf_addf(&c->out, "%u (%s)\n", t->id, t->file);
		else if (all || t == one)
			show_keys(c, t);
	}
}

void
admin_cmd_set_ssl_tls_key(struct admin_conn *c, int argc, char **argv)
{
	struct tls_tickets *t;
	int r;

	if (argc < 2) {
		admin_msg(c, ADMIN_ERR,
			"'set ssl tls-key' expects a filename and the new TLS key in base64 "
			"encoding.");
		return;
	}
	t = find_tickets(c, argv[0]);
	if (!t) {
		admin_msg(c, ADMIN_ERR,
			"'set ssl tls-key' unable to locate referenced filename");
		return;
	}
	admin_stop_workers(c);
	r = tls_tickets_push(t, argv[1]);
	admin_resume_workers(c);
	if (r == -ERR_SYNTAX)
		admin_msg(c, ADMIN_ERR,
			"'set ssl tls-key' received invalid base64 encoded TLS key.");
	else if (r)
		admin_msg(c, ADMIN_ERR, "'set ssl tls-key' received a key of wrong size.");
	else
		admin_msg(c, ADMIN_NOTICE, "TLS ticket key updated!");
}
