/* Certificates at run time (management manual 9.3): shown, changed in a transaction, added and
 * removed. On the first worker; the others are paused for the moment of a change only. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/admin/admin_int.h"
#include "app/admin/admin_tls_int.h"
#include "base/err.h"
#include "net/listener.h"
#include "proxy/model/ring_conf.h"
#include "tls/bind.h"
#include "tls/conn_info.h"
#include "tls/connect.h"
#include "tls/ocsp.h"
#include "tls/settings.h"
#include "tls/store.h"
#include "tls/tls_conf.h"

/* --- applying -------------------------------------------------------------------------------- */

/*
 * Changes of TLS at run time, on all bind lines and servers. First worker; the others are
 * paused while pointers are exchanged.
 */

struct tls_conf *
admin_tls_conf(const struct admin_conn *c)
{
	return &c->admin->process->cfg->tls;
}

int
admin_tls_each_bind(struct admin_conn *c, admin_tls_bind_fn *fn, void *arg)
{
	int r = 0;

	list_each(it, &c->admin->process->cfg->proxies.all) {
		struct proxy *p = list_entry(it, struct proxy, link);

		list_each(bt, &p->binds) {
			struct bind_conf *b = list_entry(bt, struct bind_conf, link);

			if (!r && b->tls && b->tls->is_on && !p->disabled)
				r = fn(b, p, arg);
		}
	}
	return r;
}

typedef int tls_server_fn(struct tls_server *t, void *arg);

struct ring_call {
	tls_server_fn *fn;
	void *arg;
};

static int
on_ring_server(struct ring_server *s, void *arg)
{
	const struct ring_call *c = arg;

	return c->fn(s->tls, c->arg);
}

/* Visits the servers of proxies, then those of rings. */
static int
each_tls_server(struct admin_conn *c, tls_server_fn *fn, void *arg)
{
	int r = 0;

	list_each(it, &c->admin->process->cfg->proxies.all) {
		const struct proxy *p = list_entry(it, const struct proxy, link);

		list_each(st, &p->servers) {
			const struct server *s = list_entry(st, const struct server, link);

			if (!r && s->tls)
				r = fn(s->tls, arg);
		}
	}
	if (!r)
		r = ring_confs_each_tls(&c->admin->process->cfg->proxies.log.rings, on_ring_server,
			&(struct ring_call){ fn, arg });
	return r;
}

struct applying {
	const struct tls_change *change;
	unsigned int uses;
	char *why;
};

static int
prepare_bind(struct bind_conf *b, struct proxy *p unused, void *arg)
{
	struct applying *a = arg;

	return tls_bind_prepare(b->tls, a->change, &a->uses, a->why);
}

static int
prepare_server(struct tls_server *t, void *arg)
{
	struct applying *a = arg;

	return tls_server_prepare(t, a->change, &a->uses, a->why);
}

static int
exchange_bind(struct bind_conf *b, struct proxy *p unused, void *arg unused)
{
	tls_bind_exchange(b->tls);
	return 0;
}

static int
exchange_server(struct tls_server *t, void *arg unused)
{
	tls_server_exchange(t);
	return 0;
}

static int
settle_bind(struct bind_conf *b, struct proxy *p unused, void *arg unused)
{
	tls_bind_settle(b->tls);
	return 0;
}

static int
settle_server(struct tls_server *t, void *arg unused)
{
	tls_server_settle(t);
	return 0;
}

static void
exchange_all(struct admin_conn *c, const struct tls_change *change)
{
	struct tls_entry *e = change->entry;

	admin_stop_workers(c);
	if (e) {
		struct tls_cert *was = e->cert;

		e->cert = e->next;
		e->next = was;
	}
	(void)admin_tls_each_bind(c, exchange_bind, NULL);
	(void)each_tls_server(c, exchange_server, NULL);
	admin_resume_workers(c);
}

int
admin_tls_apply(struct admin_conn *c, const struct tls_change *change, unsigned int *uses,
	char *why)
{
	struct applying a = { .change = change, .why = why };
	int r = admin_tls_each_bind(c, prepare_bind, &a);

	if (!r)
		r = each_tls_server(c, prepare_server, &a);
	if (!r)
		exchange_all(c, change);
	(void)admin_tls_each_bind(c, settle_bind, NULL);
	(void)each_tls_server(c, settle_server, NULL);
	*uses = a.uses;
	return r;
}

void
admin_tls_dots(struct admin_conn *c, unsigned int uses)
{
	while (uses--)
		sbuf_addc(&c->out, '.');
}

/* --- show --- */

static void
show_one(struct admin_conn *c, const char *name, const struct tls_cert *cert, int is_used)
{
	sbuf_addf(&c->out, "Filename: %s\nStatus: %s\n", name,
		!cert            ? "Empty"
			: is_used ? "Used"
				  : "Unused");
	if (cert)
		tls_cert_show(cert, &c->out);
	sbuf_adds(&c->out, "OCSP Response Key: ");
	if (cert)
		tls_cert_show_ocsp_key(cert, &c->out);
	sbuf_addc(&c->out, '\n');
}

/* The response that a transaction will put in place, or the one that is stapled. */
static void
show_ocsp(struct admin_conn *c, const struct tls_cert *cert)
{
	if (cert && cert->ocsp_new.len)
		tls_ocsp_show(cert->ocsp_new.p, cert->ocsp_new.len, &c->out);
	else if (cert && cert->ocsp)
		tls_ocsp_show(cert->ocsp->p, cert->ocsp->len, &c->out);
}

static void
show_named(struct admin_conn *c, const char *name)
{
	const struct tls_conf *conf = admin_tls_conf(c);
	const struct tls_store *s = &conf->certs;
	enum tls_part part;
	const struct tls_entry *e =
		tls_part_find(s, name + (name[0] == '*'), conf->files.del_ext, &part);

	if (!e || (part != TLS_PART_PEM && part != TLS_PART_OCSP) ||
		(name[0] == '*' && s->change.entry != e)) {
		admin_msg(c, ADMIN_ERR,
			"Can't display the certificate: Not found or the certificate is a bundle!");
		return;
	}
	if (part == TLS_PART_OCSP)
		show_ocsp(c, name[0] == '*' ? s->change.cert : e->cert);
	else if (name[0] == '*')
		show_one(c, name, s->change.cert, 0);
	else
		show_one(c, name, e->cert, e->uses > 0);
}

/* Writes the name at *state, a list link; entries stay until the process ends. */
static int
next_cert_name(struct admin_conn *c, void *state)
{
	const struct list **at = state;
	const struct tls_entry *e;

	if (*at == &admin_tls_conf(c)->certs.entries)
		return 0;
	e = list_entry(*at, const struct tls_entry, link);
	if (e->is_there)
		sbuf_addf(&c->out, "%s\n", e->name);
	*at = (*at)->next;
	return 1;
}

void
admin_cmd_show_ssl_cert(struct admin_conn *c, int argc, char **argv)
{
	const struct tls_store *s = &admin_tls_conf(c)->certs;
	const struct list *at = s->entries.next;

	if (argc > 0) {
		show_named(c, argv[0]);
		return;
	}
	if (s->change.entry)
		sbuf_addf(&c->out, "# transaction\n*%s\n", s->change.entry->name);
	sbuf_adds(&c->out, "# filename\n");
	admin_walk(c, next_cert_name, &at, sizeof(const struct list *));
}

/* --- a transaction --- */

static void
end_change(struct tls_store *s)
{
	tls_cert_put(s->change.cert);
	s->change.cert = NULL;
	s->change.entry = NULL;
}

/* The transaction about this name, or a message. */
static struct tls_entry *
find_change(struct admin_conn *c, const char *name, const char *verb)
{
	struct tls_entry *e = admin_tls_conf(c)->certs.change.entry;

	if (!e) {
		/* HAProxy's words, to the letter. */
		admin_msg(c, ADMIN_ERR, "No ongoing transaction!%s",
			strcmp(verb, "commit") == 0 ? " !" : "");
		return NULL;
	}
	if (strcmp(e->name, name) == 0)
		return e;
	admin_msg(c, ADMIN_ERR,
		"The ongoing transaction is about '%s' but you are trying to %s '%s'", e->name,
		verb, name);
	return NULL;
}

static void
put_change(struct admin_conn *c, struct tls_entry *e, enum tls_part part, const char *name)
{
	struct tls_store *s = &admin_tls_conf(c)->certs;
	const struct tls_cert *from = s->change.entry ? s->change.cert : e->cert;
	struct tls_cert *made = from ? tls_cert_copy(from) : tls_cert_new();
	char why[TLS_WHY_MAX] = "out of memory";
	int is_new = !s->change.entry;

	if (made)
		made->chains = &admin_tls_conf(c)->chains;
	if (!made || tls_part_set(made, part, c->payload, why) < 0 ||
		tls_cert_find_issuer(made) < 0) {
		admin_msg(c, ADMIN_ERR, "%s.\nCan't load the payload\nCan't update %s!", why,
			name);
		tls_cert_put(made);
		return;
	}
	tls_cert_put(s->change.cert);
	s->change.cert = made;
	s->change.entry = e;
	admin_msg(c, ADMIN_NOTICE, "Transaction %s for certificate %s!",
		is_new ? "created" : "updated", e->name);
}

void
admin_cmd_set_ssl_cert(struct admin_conn *c, int argc, char **argv)
{
	const struct tls_conf *conf = admin_tls_conf(c);
	const struct tls_store *s = &conf->certs;
	enum tls_part part;
	struct tls_entry *e;

	if (argc < 1 || !c->payload) {
		admin_msg(c, ADMIN_ERR,
			"'set ssl cert expects a filename and a certificate as a payload");
		return;
	}
	e = tls_part_find(s, argv[0], conf->files.del_ext, &part);
	if (!e) {
		admin_msg(c, ADMIN_ERR,
			"Can't replace a certificate which is not referenced by the "
			"configuration!\nCan't update %s!",
			argv[0]);
		return;
	}
	if (s->change.entry && s->change.entry != e && !find_change(c, e->name, "set"))
		return;
	put_change(c, e, part, argv[0]);
}

void
admin_cmd_abort_ssl_cert(struct admin_conn *c, int argc, char **argv)
{
	if (argc < 1)
		admin_msg(c, ADMIN_ERR, "'abort ssl cert' expects a filename");
	else if (find_change(c, argv[0], "abort a transaction for")) {
		end_change(&admin_tls_conf(c)->certs);
		admin_msg(c, ADMIN_NOTICE, "Transaction aborted for certificate '%s'!", argv[0]);
	}
}

static void
commit_change(struct admin_conn *c, struct tls_entry *e, const char *warning)
{
	struct tls_change change = { .entry = e };
	char why[TLS_WHY_MAX];
	unsigned int uses;
	int r;

	e->next = tls_cert_ref(admin_tls_conf(c)->certs.change.cert);
	r = admin_tls_apply(c, &change, &uses, why);
	/* The previous one now, or the one that cannot be used. */
	tls_cert_put(e->next);
	e->next = NULL;
	if (r < 0) {
		admin_msg(c, ADMIN_ERR, "%s.\nCan't commit %s!", why, e->name);
		return;
	}
	end_change(&admin_tls_conf(c)->certs);
	admin_severity(c, ADMIN_NOTICE);
	sbuf_addf(&c->out, "Committing %s", e->name);
	admin_tls_dots(c, uses);
	sbuf_addf(&c->out, "\n%sSuccess!\n", warning);
}

/* 0, or a reason why it cannot be committed. A response that cannot be used is left out, as when
 * files are read. */
static int
check_change(struct tls_cert *cert, char *why, char *warning)
{
	int r = tls_cert_complete(cert, why);

	warning[0] = '\0';
	if (r)
		return r;
	r = tls_cert_check_ocsp(cert, why);
	if (r == -ERR_MISSING)
		return r;
	if (r)
		(void)snprintf(warning, TLS_WHY_MAX, "Loading: %.400s. Content will be ignored.\n",
			why);
	return 0;
}

void
admin_cmd_commit_ssl_cert(struct admin_conn *c, int argc, char **argv)
{
	struct tls_store *s = &admin_tls_conf(c)->certs;
	char why[TLS_WHY_MAX], warning[TLS_WHY_MAX];
	struct tls_entry *e;

	if (argc < 1) {
		admin_msg(c, ADMIN_ERR, "'commit ssl cert expects a filename");
		return;
	}
	if (!find_change(c, argv[0], "commit")) {
		sbuf_addf(&c->out, "Can't commit %s!\n", argv[0]);
		return;
	}
	e = s->change.entry;
	if (check_change(s->change.cert, why, warning) < 0) {
		admin_msg(c, ADMIN_ERR, "%s.\nCan't commit %s!", why, argv[0]);
		return;
	}
	commit_change(c, e, warning);
	ocsp_updates_look(c->admin->process, e);
}

/* --- new and del --- */

void
admin_cmd_new_ssl_cert(struct admin_conn *c, int argc, char **argv)
{
	struct tls_store *s = &admin_tls_conf(c)->certs;

	if (argc < 1)
		admin_msg(c, ADMIN_ERR, "'new ssl cert' expects a filename");
	else if (tls_store_find(s, argv[0]))
		admin_msg(c, ADMIN_ERR, "Certificate '%s' already exists!", argv[0]);
	else if (!tls_store_add(s, argv[0]))
		admin_msg(c, ADMIN_ERR, "Out of memory.");
	else
		admin_msg(c, ADMIN_NOTICE, "New empty certificate store '%s'!", argv[0]);
}

void
admin_cmd_del_ssl_cert(struct admin_conn *c, int argc, char **argv)
{
	struct tls_store *s = &admin_tls_conf(c)->certs;
	struct tls_entry *e = argc > 0 ? tls_store_find(s, argv[0]) : NULL;

	if (argc < 1)
		admin_msg(c, ADMIN_ERR, "'del ssl cert' expects a certificate name");
	else if (!e)
		admin_msg(c, ADMIN_ERR,
			"Can't remove the certificate: certificate '%s' doesn't exist!\n", argv[0]);
	else if (e->uses)
		admin_msg(c, ADMIN_ERR,
			"Can't remove the certificate: certificate '%s' in use, can't be "
			"deleted!\n",
			argv[0]);
	else {
		if (s->change.entry == e)
			end_change(s);
		tls_entry_set(e, NULL);
		e->is_there = 0;
		ocsp_updates_look(c->admin->process, e);
		admin_msg(c, ADMIN_NOTICE, "Certificate '%s' deleted!", argv[0]);
	}
}

void
admin_cmd_show_ssl_providers(struct admin_conn *c, int argc unused, char **argv unused)
{
	sbuf_adds(&c->out, "Loaded providers : \n");
	tls_show_providers(&c->out);
}

/* --- ticket keys ----------------------------------------------------------------------------- */

/*
 * Keys of TLS tickets at run time (management manual 9.3). On the first worker; the others are
 * paused for the moment of a change only.
 */

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

/* Shows the names at any level, but keys at the level admin only: they can decrypt the traffic of
 * clients. */
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

/* The whole file as a payload: a rotation that may be repeated. */
static void
replace_keys(struct admin_conn *c, struct tls_tickets *t)
{
	char why[TLS_WHY_MAX];
	int r;

	admin_stop_workers(c);
	r = tls_tickets_replace(t, c->payload, why);
	admin_resume_workers(c);
	if (r)
		admin_msg(c, ADMIN_ERR, "'set ssl tls-key' %s.", why);
	else
		admin_msg(c, ADMIN_NOTICE, "TLS ticket keys updated!");
}

void
admin_cmd_set_ssl_tls_key(struct admin_conn *c, int argc, char **argv)
{
	struct tls_tickets *t;
	int r;

	if (argc < 2 && !(argc == 1 && c->payload)) {
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
	if (argc == 1) {
		replace_keys(c, t);
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
