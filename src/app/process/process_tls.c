/* TLS of the process: what each worker accepts with. Main thread, before workers run; the workers
 * own the buffers, the bind lines their contexts. */
#include "app/process/process_tls.h"

#include "app/process/process.h"
#include "base/err.h"
#include "base/mem.h"
#include "net/listener.h"
#include "tls/bind.h"
#include "tls/connect.h"
#include "tls/tls_io.h"

static int
make_io(struct process *p, struct tls_io **io)
{
	int reason;

	for (unsigned int i = 0; i < p->n_workers; i++) {
		io[i] = p->workers[i].tls = tls_io_new(&reason);
		if (!io[i])
			return reason;
	}
	return 0;
}

static int
open_binds(struct process *p, const struct proxy *fe, struct tls_io *const *io)
{
	list_each(it, &fe->binds) {
		struct bind_conf *b = list_entry(it, struct bind_conf, link);
		int r = b->tls && b->tls->is_on ? tls_bind_open(b->tls, io, p->n_workers) : 0;

		if (r)
			return r;
	}
	return 0;
}

static int
open_servers(struct process *p, const struct proxy *be, struct tls_io *const *io)
{
	list_each(it, &be->servers) {
		struct server *s = list_entry(it, struct server, link);
		int r = s->tls ? tls_server_open(s->tls, io, p->n_workers) : 0;

		if (r)
			return r;
		if (s->conf.tls.is_on && s->tls)
			s->xprt = tls_server_makers(s->tls);
	}
	return 0;
}

int
process_open_tls(struct process *p)
{
	struct tls_io **io;
	int r;

	if (!config_uses_tls(p->cfg))
		return 0;
	io = mem_zalloc(p->n_workers * sizeof(struct tls_io *));
	r = io ? make_io(p, io) : -ERR_NOMEM;
	list_each(it, &p->cfg->proxies.all) {
		const struct proxy *fe = list_entry(it, const struct proxy, link);

		if (!fe->disabled && !r)
			r = open_binds(p, fe, io);
		if (!fe->disabled && !r)
			r = open_servers(p, fe, io);
	}
	mem_free(io);
	return r;
}
