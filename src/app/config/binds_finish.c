/* Bind lines that share a port. Main thread. */
#include "app/config/binds_finish.h"

#include "app/config/config.h"
#include "base/array.h"
#include "base/err.h"
#include "base/mem.h"
#include "net/listener.h"
#include "net/overlap.h"

struct bound {
	struct listener **v;
	unsigned int n, cap;
	int failed;
};

static void
add_binds(struct bound *all, const struct list *binds)
{
	list_each(it, binds) {
		const struct bind_conf *b = list_entry(it, const struct bind_conf, link);

		list_each(lt, &b->listeners) {
			struct listener **v = array_grow(all->v, all->n, &all->cap, sizeof(*v));

			if (!v) {
				all->failed = 1;
				return;
			}
			all->v = v;
			all->v[all->n++] = list_entry(lt, struct listener, link);
		}
	}
}

static void
warn_twin(const struct listener *ln, const struct listener *earlier, void *arg)
{
	struct config *c = arg;
	uint64_t mine = ln->bind->threads, other = earlier->bind->threads;
	const struct cfg_where *at = &earlier->bind->where;
	char text[ADDR_TEXT];

	if (mine && other && !(mine & other))
		return;
	cfg_diag_add(&c->diag, CFG_WARNING, &ln->bind->where,
		"'bind' : [%s:%u] has the address %s too: each of the two gets a part of the "
		"connections.",
		at->file ? at->file->name : "-", at->line, addr_text(&ln->addr, text));
}

/* In the order in which process_bind() binds them. */
int
binds_finish(struct config *c)
{
	struct bound all = { 0 };
	int r;

	list_each(it, &c->proxies.all) {
		const struct proxy *p = list_entry(it, const struct proxy, link);

		if (!p->disabled)
			add_binds(&all, &p->binds);
	}
	add_binds(&all, &c->global.admin_binds);
	r = all.failed ? -ERR_NOMEM : overlap_link(all.v, all.n, warn_twin, c);
	mem_free(all.v);
	if (r)
		cfg_diag_add(&c->diag, CFG_ALERT, NULL, "bind lines: %s", err_text(r));
	return r;
}
