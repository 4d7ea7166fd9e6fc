/* Caches of the process, in a memory file of their own. */
#include "app/process/process_caches.h"

#include "app/process/process.h"
#include "base/err.h"
#include "base/mem.h"
#include "http/stored.h"
#include "proxy/model/caching.h"
#include "proxy/model/http_txn.h"
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

/* The bounds on a stored head: the fields and bytes of a server's head in this process, with
 * tune.maxrewrite left for rules. */
struct fitting {
	struct cache_heads heads;
	struct http_field *field;
	unsigned int fields_max;
	size_t h1_max;
};

static int
head_fits(const struct cache_heads *heads, struct str head)
{
	const struct fitting *f = container_of(heads, struct fitting, heads);

	return http_stored_fits(head, f->field, f->fields_max, f->h1_max);
}

/* Copies the objects of the previous process. */
static void
restore_fitting(struct process *p, const struct fitting *f)
{
	struct cache_caller by = { .sys = p->sys, .now_ms = loop_now_ms(process_loop(p)) };

	list_each(it, &p->cfg->proxies.caches)
		(void)cache_restore(list_entry(it, struct cache_section, link)->store, &by,
			&p->keep.caches.former, &f->heads);
}

void
process_caches_restore(struct process *p)
{
	const struct global_conf *g = &p->cfg->global;
	struct process_caches *pc = &p->keep.caches;
	struct fitting f = { .fields_max = (unsigned int)g->http_maxhdr + HTTP_FIELDS_ADDED,
		.h1_max = (size_t)(g->bufsize - g->maxrewrite) };

	if (!pc->former.map)
		return;
	f.heads.is_usable = head_fits;
	f.heads.longest = f.h1_max + (size_t)f.fields_max * HTTP_STORED_FIELD;
	f.heads.room = mem_alloc(f.heads.longest);
	f.field = mem_alloc(f.fields_max * sizeof(*f.field));
	if (f.heads.room && f.field && keeps_caches(p))
		restore_fitting(p, &f);
	mem_free(f.heads.room);
	mem_free(f.field);
	memfile_close(&pc->former);
}

void
process_caches_close(struct process_caches *pc)
{
	memfile_close(&pc->former);
	memfile_free(&pc->own);
}
