/* Caches of the process, in a memory file of their own. */
#include "app/process/process_caches.h"

#include "app/process/process.h"
#include "base/err.h"
#include "proxy/model/caching.h"
#include "proxy/model/proxies.h"

/* Places all caches in the file. 0 or a negative reason. */
static int
place_caches(const struct process *p, struct memfile *f)
{
	int r = 0;

	list_each(it, &p->cfg->proxies.caches) {
		if (r == 0)
			r = cache_file_place(list_entry(it, struct cache_section, link)->store, f);
	}
	return r;
}

static int
keeps_caches(const struct process *p)
{
	return p->master && (p->cfg->global.reload_keep & KEEP_CACHES);
}

int
process_caches_open(struct process *p)
{
	struct memfile *f = &p->keep.caches.own;
	size_t size = MEMFILE_HEAD;
	int r;

	list_each(it, &p->cfg->proxies.caches)
		size += cache_file_room(list_entry(it, struct cache_section, link)->store);
	if (size == MEMFILE_HEAD)
		return 0;
	r = memfile_create(f, p->sys, size, cache_file_layout(), p->keep.generation);
	if (r == 0)
		r = place_caches(p, f);
	if (r == 0 && keeps_caches(p))
		r = memfile_seal(f);
	if (r == 0 && keeps_caches(p))
		r = master_link_keep(p->master, MASTER_LINK_FILE, f->fd, 1);
	memfile_close_fd(f);
	if (r < 0)
		report_msg(p->report, REPORT_ALERT, "cannot create the memory of caches: %s",
			err_text(r));
	return r;
}

void
process_caches_restore(struct process *p)
{
	struct process_caches *pc = &p->keep.caches;
	struct cache_caller by = { .sys = p->sys, .now_ms = loop_now_ms(process_loop(p)) };

	if (!pc->former.map)
		return;
	list_each(it, &p->cfg->proxies.caches) {
		if (keeps_caches(p))
			(void)cache_restore(list_entry(it, struct cache_section, link)->store, &by,
				&pc->former);
	}
	memfile_close(&pc->former);
}

void
process_caches_close(struct process_caches *pc)
{
	memfile_close(&pc->former);
	memfile_free(&pc->own);
}
