/* Maps and ACL files that were changed at run time. First worker, at the start, before others
 * run. */
#include <string.h>

#include "app/process/process.h"
#include "base/err.h"
#include "base/mem.h"
#include "proxy/model/proxies.h"
#include "rule/match/pattern_kept.h"
#include "rule/match/pattern_restore.h"

size_t
keep_maps_room(const struct process *p)
{
	if (!(p->cfg->global.reload_keep & KEEP_MAPS))
		return 0;
	list_each(it, &p->cfg->proxies.files.refs) {
		if (list_entry(it, struct pattern_ref, link)->path)
			return p->keep.maps_room;
	}
	return 0;
}

int
keep_begin_maps(struct process *p)
{
	if (!keep_maps_room(p))
		return 0;
	list_each(it, &p->cfg->proxies.files.refs) {
		struct pattern_ref *ref = list_entry(it, struct pattern_ref, link);
		int r = ref->path ? pattern_kept_begin(ref, &p->keep.own, KEEP_MAP) : 0;

		if (r)
			return r;
	}
	return 0;
}

static void
report_restored(const struct process *p, const struct pattern_ref *ref, enum pattern_restored how,
	const struct pattern_restore *r)
{
	if (how == PATTERN_FILE_CHANGED)
		report_msg(p->report, REPORT_WARNING,
			"'%s' has changed: its run-time changes are dropped",
			ref->path);
	else if (how == PATTERN_DAMAGED)
		report_msg(p->report, REPORT_WARNING,
			"'%s': the memory file of a previous worker process is damaged: run-time "
			"changes are lost.",
			ref->path);
	else if (r->refused)
		report_msg(p->report, REPORT_WARNING,
			"'%s': %u run-time changes cannot be repeated", ref->path, r->refused);
}

/* The records of a file, in order. */
static unsigned int
find_chunks(const struct memfile_view *v, const char *path, const struct memfile_item **out)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < v->n; i++)
		if (v->item[i].kind == KEEP_MAP && strcmp(v->item[i].key, path) == 0)
			out[n++] = &v->item[i];
	return n;
}

/* Restores the changes that the latest process saved: it has those of earlier ones, too. */
void
keep_restore_maps(struct process *p)
{
	const struct keep *k = &p->keep;
	const struct memfile_view *v = k->n_former ? &k->former[k->n_former - 1].view : NULL;
	const struct memfile_item **chunk;

	if (!v || !v->n || !k->process || !keep_maps_room(p))
		return;
	chunk = mem_alloc(v->n * sizeof(const struct memfile_item *));
	list_each(it, &p->cfg->proxies.files.refs) {
		struct pattern_ref *ref = list_entry(it, struct pattern_ref, link);
		struct pattern_restore r;
		unsigned int n;

		if (!chunk || !ref->kept)
			continue;
		n = find_chunks(v, ref->path, chunk);
		report_restored(p, ref, pattern_kept_restore(ref, chunk, n, &r), &r);
	}
	mem_free(chunk);
}
