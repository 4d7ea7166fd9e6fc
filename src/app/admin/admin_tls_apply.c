/* Changes of TLS at run time, on all bind lines and servers. First worker; the others are paused
 * while pointers are exchanged. */
#include "app/admin/admin_tls_int.h"
#include "net/listener.h"
#include "proxy/model/ring_conf.h"
#include "tls/bind_change.h"
#include "tls/connect.h"

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
