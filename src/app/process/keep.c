/* The memory file of this worker process. First worker; others write only to their own shards in
 * it. A record never moves, and its memory stays until the process ends. */
#include "app/process/keep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/process/process.h"
#include "app/process/process_tables.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/sbuf.h"
#include "cache/cache.h"
#include "proxy/model/proxies.h"
#include "rule/match/pattern_ref.h"
#include "rule/match/pattern_restore.h"
#include "table/table_file.h"
#include "tls/tls_conf.h"

/* Time between two notes of the numbers of the process. */
#define NOTE_MS 100

/* Changes with the meaning of the structures' members. */
#define STATE_FORM 1u

/* --- the previous process -------------------------------------------------------------------- */

/*
 * The files of previous worker processes. First worker, before others run. Their processes may
 * write on, and may be hostile: sizes are verified here, once, and the rest is numbers.
 */

static uint32_t keep_layout(void);

static void
report_refused(const struct report *report, const char *why)
{
	report_msg(report, REPORT_WARNING,
		"the memory file of a previous worker process cannot be used: %s. Its counters "
		"start from zero.",
		why);
}

/* Takes a file of a previous process that the master has handed over, if it has tables. 0, or a
 * negative reason: it has none. */
static int
process_tables_open_former(struct process_tables *pt, struct sys *sys, int fd, int has_ended)
{
	struct tables_former *f = mem_resize(pt->former, pt->n_former + 1, sizeof(*f));
	const char *why;
	int r;

	if (!f)
		return -ERR_NOMEM;
	pt->former = f;
	f += pt->n_former;
	*f = (struct tables_former){ .has_ended = has_ended, .fd = -1, .alive = -1 };
	r = memfile_open(&f->view, sys, fd, table_file_layout(), &why);
	if (r == 0)
		pt->n_former++;
	return r;
}

static int
process_caches_open_former(struct process_caches *pc, struct sys *sys, int fd)
{
	struct memfile_view view;
	const char *why;

	if (memfile_open(&view, sys, fd, cache_file_layout(), &why) < 0)
		return -1;
	memfile_close(view.generation > pc->former.generation ? &pc->former : &view);
	if (view.map)
		pc->former = view;
	return 0;
}

static void
open_one(struct keep *k, struct sys *sys, const struct report *report, int fd, int has_ended)
{
	struct keep_former *f = mem_resize(k->former, k->n_former + 1, sizeof(*f));
	const char *why = "out of memory";

	if (f)
		k->former = f;
	if (!f || memfile_open(&f[k->n_former].view, sys, fd, keep_layout(), &why)) {
		if (!f || (process_tables_open_former(&k->tables, sys, fd, has_ended) < 0 &&
				process_caches_open_former(&k->caches, sys, fd) < 0))
			report_refused(report, why);
		return;
	}
	f += k->n_former++;
	f->has_ended = has_ended;
	f->is_cleared = 0;
}

static int
by_generation(const void *a, const void *b)
{
	uint64_t x = ((const struct keep_former *)a)->view.generation;
	uint64_t y = ((const struct keep_former *)b)->view.generation;

	return (x > y) - (x < y);
}

static const struct kept_process *
process_record(const struct keep_former *f)
{
	const struct memfile_item *item = memfile_find(&f->view, KEEP_PROCESS, "process", "");

	return item && item->len >= sizeof(struct kept_process) ? item->payload : NULL;
}

static void
drop_former(struct keep *k, unsigned int i)
{
	memfile_close(&k->former[i].view);
	memmove(&k->former[i], &k->former[i + 1],
		(--k->n_former - i) * sizeof(*k->former));
}

/* Drops the files that the latest process has recorded as cleared. */
static void
drop_cleared(struct keep *k)
{
	const struct kept_process *latest =
		k->n_former ? process_record(&k->former[k->n_former - 1]) : NULL;
	uint64_t cleared = latest ? latest->cleared : 0;
	uint64_t maxima = latest ? latest->maxima_cleared : 0;

	for (unsigned int i = k->n_former; i-- > 0;) {
		struct keep_former *f = &k->former[i];

		if (i + 1 < k->n_former && f->view.generation < cleared)
			drop_former(k, i);
		else if (i + 1 < k->n_former && f->view.generation < maxima)
			f->is_cleared = 1;
	}
}

static void
open_all_of(struct keep *k, struct inherited_sockets *in, const struct report *report,
	const char *name, int has_ended)
{
	const struct inherited_socket *s;

	while ((s = inherited_take(in, name)) != NULL) {
		if (s->from == INHERITED_MASTER && k->n_former < KEEP_FORMER_MAX)
			open_one(k, in->sys, report, s->fd, has_ended);
		(void)sys_close(in->sys, s->fd);
	}
}

void
keep_open_former(struct keep *k, struct inherited_sockets *in, const struct report *report)
{
	open_all_of(k, in, report, MASTER_LINK_FILE, 0);
	open_all_of(k, in, report, MASTER_LINK_FILE_OF_ENDED, 1);
	if (k->n_former)
		qsort(k->former, k->n_former, sizeof(*k->former), by_generation);
	drop_cleared(k);
	k->generation = 1;
	if (k->n_former)
		k->generation += k->former[k->n_former - 1].view.generation;
}

/* --- counters --- */

/* The number of shards that a record says it has, if there is room for them and for what follows
 * them: `rows` rows of histograms, and as many for each shard. */
static unsigned int
shards_in(const struct memfile_item *item, uint32_t claimed, size_t head, size_t size,
	unsigned int rows)
{
	size_t latency = rows * sizeof(struct latency_row);

	if (item->len < head + latency)
		return 0;
	return claimed <= ENGINES_MAX && claimed <= (item->len - head - latency) / (size + latency)
		? claimed : 0;
}

/* Behind the shards. */
static struct latency_rows
latency_rows_of(const void *shard, size_t size, unsigned int n, unsigned int i,
	const struct latency_use *use)
{
	struct latency_row *first = (void *)((uintptr_t)shard + n * size);

	return (struct latency_rows){ .use = (void *)(uintptr_t)use, .row = &first[i * (1 + n)],
		.n_workers = n };
}

/* The rows of histograms in such a record with n shards, of a proxy those of side i. */
static struct latency_rows
keep_proxy_latency(const struct kept_proxy *k, unsigned int n, unsigned int i)
{
	return latency_rows_of(k->shard, sizeof(k->shard[0]), n, i, &k->latency[i]);
}

static struct latency_rows
keep_server_latency(const struct kept_server *k, unsigned int n)
{
	return latency_rows_of(k->shard, sizeof(k->shard[0]), n, 0, &k->latency);
}

/* A row is added to the base, or from now on to each sum. */
static int
join_spans(struct stat_past *past, const struct keep_former *f, const struct stat_span *span,
	unsigned int n, void *base, void (*add)(void *base, const struct stat_span *span))
{
	for (unsigned int i = 0; i < n; i++) {
		if (f->has_ended)
			add(base, &span[i]);
		else if (stat_past_add(past, span[i]))
			return -ERR_NOMEM;
	}
	return 0;
}

static void
add_to_proxy(void *base, const struct stat_span *span)
{
	proxy_stat_add_span(base, span);
}

static void
add_to_server(void *base, const struct stat_span *span)
{
	server_stat_add_span(base, span);
}

static int
join_side(struct proxy *px, unsigned int side, const struct keep_former *f,
	const struct memfile_item *item, struct kept_proxy *own)
{
	const struct kept_proxy *kept = item->payload;
	unsigned int i = side == PROXY_BE;
	unsigned int n = item->len < sizeof(*kept)
		? 0 : shards_in(item, kept->n_shards, sizeof(*kept), sizeof(kept->shard[0]), 2);
	const struct latency_rows rows = keep_proxy_latency(kept, n, i);
	const struct stat_span span[] = {
		{ &kept->base[i], sizeof(kept->base[i]), 1, f->is_cleared },
		{ i ? &kept->shard->be : &kept->shard->fe, sizeof(kept->shard[0]), n,
			f->is_cleared },
	};

	if (!n)
		return 0;
	if (latency_set_join(&px->latency[i], &rows, f->has_ended))
		return -ERR_NOMEM;
	return join_spans(&px->past[i], f, span, ARRAY_LEN(span), &own->base[i], add_to_proxy);
}

static void
keep_proxy_key(char key[KEEP_KEY_MAX], const struct proxy *px, unsigned int side)
{
	(void)snprintf(key, KEEP_KEY_MAX, "%c %s",
		side == (PROXY_FE | PROXY_BE) ? 'l' : side == PROXY_FE ? 'f' : 'b', px->name);
}

void
keep_server_key(char key[KEEP_KEY_MAX], const struct server *s)
{
	(void)snprintf(key, KEEP_KEY_MAX, "%s\n%s", s->be->name, s->name);
}

/* A section may have become two, or two one. */
const struct memfile_item *
keep_find_side(const struct keep_former *f, const struct proxy *px, unsigned int side)
{
	char key[KEEP_KEY_MAX];
	const struct memfile_item *item;

	keep_proxy_key(key, px, side);
	item = memfile_find(&f->view, KEEP_PROXY, key, keep_guid(px->guid));
	if (item)
		return item;
	keep_proxy_key(key, px, PROXY_FE | PROXY_BE);
	return memfile_find(&f->view, KEEP_PROXY, key, keep_guid(px->guid));
}

/* Finds the counters of previous processes for these. 0 or -ERR_NOMEM. */
static int
keep_join_proxy(struct process *p, struct proxy *px, struct kept_proxy *own)
{
	static const unsigned int sides[] = { PROXY_FE, PROXY_BE };
	struct keep *k = &p->keep;

	for (unsigned int i = 0; i < ARRAY_LEN(sides); i++) {
		const struct stat_span base = { &own->base[i], sizeof(own->base[i]), 1, 0 };

		if (!(px->caps & sides[i]))
			continue;
		if (stat_past_add(&px->past[i], base))
			return -ERR_NOMEM;
		for (unsigned int f = 0; f < k->n_former; f++) {
			const struct memfile_item *item =
				keep_find_side(&k->former[f], px, sides[i]);

			if (item && join_side(px, sides[i], &k->former[f], item, own))
				return -ERR_NOMEM;
		}
	}
	return 0;
}

static int
join_server_of(struct server *s, const struct keep_former *f, const struct memfile_item *item,
	struct kept_server *own)
{
	const struct kept_server *kept = item->payload;
	unsigned int n = item->len < sizeof(*kept)
		? 0 : shards_in(item, kept->n_shards, sizeof(*kept), sizeof(kept->shard[0]), 1);
	const struct latency_rows rows = keep_server_latency(kept, n);
	const struct stat_span span[] = {
		{ &kept->base, sizeof(kept->base), 1, f->is_cleared },
		{ &kept->shard->stat, sizeof(kept->shard[0]), n, f->is_cleared },
	};

	if (!n)
		return 0;
	if (latency_set_join(&s->latency, &rows, f->has_ended))
		return -ERR_NOMEM;
	return join_spans(&s->past, f, span, ARRAY_LEN(span), &own->base, add_to_server);
}

static int
keep_join_server(struct process *p, struct server *s, struct kept_server *own)
{
	struct keep *k = &p->keep;
	char key[KEEP_KEY_MAX];

	keep_server_key(key, s);
	if (stat_past_add(&s->past, (struct stat_span){ &own->base, sizeof(own->base), 1, 0 }))
		return -ERR_NOMEM;
	for (unsigned int f = 0; f < k->n_former; f++) {
		const struct memfile_item *item =
			memfile_find(&k->former[f].view, KEEP_SERVER, key, keep_guid(s->guid));

		if (item && join_server_of(s, &k->former[f], item, own))
			return -ERR_NOMEM;
	}
	return 0;
}

/* --- ticket keys ----------------------------------------------------------------------------- */

/*
 * The keys of TLS tickets over reloads. First worker. They lie in pages of the memory file that
 * are no part of a core; each process keeps its own copy, since both change theirs while one
 * drains.
 */

#define KEY "tls tickets"

static int
wants_tickets(const struct process *p)
{
	return (p->cfg->global.reload_keep & KEEP_TICKETS) && p->cfg->tls.tickets;
}

static size_t
keep_tickets_room(const struct process *p)
{
	return wants_tickets(p) ? memfile_record_size(KEY, "", 2 * TLS_SECRET_SIZE) : 0;
}

/* A multiple of TLS_SECRET_SIZE in the file, and so at the start of a page in any mapping. */
static const void *
secret_in(const char *map, const void *payload)
{
	size_t at = (size_t)((const char *)payload - map);

	return map + (at + TLS_SECRET_SIZE - 1) / TLS_SECRET_SIZE * TLS_SECRET_SIZE;
}

/* The keys of TLS tickets: a copy of them is saved from now on. 0 or -ERR_FULL. */
static int
keep_begin_tickets(struct process *p)
{
	struct memfile *f = &p->keep.own;
	void *payload;

	if (!wants_tickets(p))
		return 0;
	payload = memfile_add(f, KEEP_TICKET_KEYS, KEY, "", 2 * TLS_SECRET_SIZE);
	if (!payload)
		return -ERR_FULL;
	tls_tickets_keep(p->cfg->tls.tickets, p->sys,
		(struct tls_ticket_keys *)(uintptr_t)secret_in(f->map, payload));
	return 0;
}

void
keep_restore_tickets(struct process *p)
{
	const struct keep *k = &p->keep;

	if (!wants_tickets(p) || !k->process)
		return;
	for (unsigned int i = k->n_former; i-- > 0;) {
		const struct memfile_view *v = &k->former[i].view;
		const struct memfile_item *item = memfile_find(v, KEEP_TICKET_KEYS, KEY, "");

		if (item && item->len >= 2 * TLS_SECRET_SIZE &&
			tls_tickets_restore(p->cfg->tls.tickets, secret_in(v->map, item->payload)))
			return;
	}
}

/* --- maps ------------------------------------------------------------------------------------ */

/*
 * Maps and ACL files that were changed at run time. First worker, at the start, before others
 * run.
 */

/* Maps: the room for their changes; their changes are saved from now on; those of the latest
 * previous process are repeated. 0 or -ERR_NOMEM. */
static size_t
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

static int
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

/* --- records --------------------------------------------------------------------------------- */

/* Changes with the layout of any record. */
static uint32_t
keep_layout(void)
{
	const size_t size[] = { STATE_FORM, sizeof(struct kept_process), sizeof(struct kept_proxy),
		sizeof(struct kept_server), sizeof(struct check_kept), CHECK_STATUSES,
		sizeof(struct kept_slot), sizeof(struct pattern_kept_head),
		sizeof(struct tls_ticket_keys),
		offsetof(struct kept_server, base), offsetof(struct kept_proxy, base),
		offsetof(struct server_kept, line), offsetof(struct server_kept, check),
		latency_layout() };

	return hash_crc32c(shard_layout(), size, sizeof(size));
}

static unsigned int
side_of(const struct proxy *px)
{
	return px->caps & (PROXY_FE | PROXY_BE);
}

/* With n workers. */
static size_t
server_size(unsigned int n)
{
	return sizeof(struct kept_server) + n * sizeof(struct server_shard) +
		(1 + n) * sizeof(struct latency_row);
}

static size_t
proxy_size(unsigned int n)
{
	return sizeof(struct kept_proxy) + n * sizeof(struct proxy_shard) +
		2 * (1 + n) * sizeof(struct latency_row);
}

static size_t
server_record_size(const struct server *s)
{
	char key[KEEP_KEY_MAX];

	keep_server_key(key, s);
	return memfile_record_size(key, keep_guid(s->guid), server_size(s->be->n_shards));
}

/* All records, and room for more: memory that is not written to is not taken. */
static size_t
file_size(const struct process *p)
{
	size_t size = (1u << 20) + keep_maps_room(p) + keep_tickets_room(p) + KEEP_ROOM_SERVERS *
		(2048 + server_size(p->n_workers));
	char key[KEEP_KEY_MAX];

	list_each(it, &p->cfg->proxies.all) {
		const struct proxy *px = list_entry(it, struct proxy, link);

		keep_proxy_key(key, px, side_of(px));
		size += memfile_record_size(key, keep_guid(px->guid), proxy_size(px->n_shards));
		list_each(st, &px->servers)
			size += server_record_size(list_entry(st, struct server, link));
	}
	return size;
}

/* Without room its counters stay in the process. */
static int
place_server(struct process *p, struct server *s)
{
	char key[KEEP_KEY_MAX];
	struct kept_server *own;
	struct latency_rows rows;

	keep_server_key(key, s);
	own = memfile_add(&p->keep.own, KEEP_SERVER, key, keep_guid(s->guid),
		server_size(s->be->n_shards));
	if (!own)
		return -ERR_FULL;
	own->n_shards = s->be->n_shards;
	s->kept = &own->state;
	server_note_conf(&own->state, s);
	server_place_shards(s, own->shard, s->be->n_shards);
	rows = keep_server_latency(own, own->n_shards);
	latency_set_place(&s->latency, &rows);
	return keep_join_server(p, s, own);
}

static int
place_proxy(struct process *p, struct proxy *px)
{
	char key[KEEP_KEY_MAX];
	struct kept_proxy *own;
	int r;

	keep_proxy_key(key, px, side_of(px));
	own = memfile_add(&p->keep.own, KEEP_PROXY, key, keep_guid(px->guid),
		proxy_size(px->n_shards));
	if (!own)
		return -ERR_FULL;
	own->n_shards = px->n_shards;
	px->kept = &own->state;
	own->state.maxconn.conf = px->maxconn;
	proxy_place_shards(px, own->shard);
	for (unsigned int i = 0; i < 2; i++) {
		struct latency_rows rows = keep_proxy_latency(own, own->n_shards, i);

		latency_set_place(&px->latency[i], &rows);
	}
	r = keep_join_proxy(p, px, own);
	list_each(it, &px->servers) {
		if (!r)
			r = place_server(p, list_entry(it, struct server, link));
	}
	return r;
}

static int
make_records(struct process *p)
{
	struct keep *k = &p->keep;
	int r = 0;

	k->process = memfile_add(&k->own, KEEP_PROCESS, "process", "", sizeof(*k->process));
	if (!k->process)
		return -ERR_FULL;
	list_each(it, &p->cfg->proxies.all) {
		if (!r)
			r = place_proxy(p, list_entry(it, struct proxy, link));
	}
	if (!r && p->service)
		r = p->service->keep(p);
	if (!r)
		r = keep_begin_maps(p);
	if (!r)
		r = keep_begin_tickets(p);
	return r;
}

/* Inherits the marks of cleared counters: files of that time may still be there at the next
 * start. */
static void
inherit_marks(struct keep *k)
{
	for (unsigned int i = 0; i < k->n_former; i++) {
		const struct memfile_item *item =
			memfile_find(&k->former[i].view, KEEP_PROCESS, "process", "");
		const struct kept_process *former = item ? item->payload : NULL;

		if (!former || item->len < sizeof(*former))
			continue;
		k->process->cleared = MAX(k->process->cleared, former->cleared);
		k->process->maxima_cleared =
			MAX(k->process->maxima_cleared, former->maxima_cleared);
	}
}

int
keep_open(struct process *p)
{
	struct keep *k = &p->keep;
	int r;

	if (!p->master || !p->cfg->global.reload_keep)
		return 0;
	r = memfile_create(&k->own, p->sys, file_size(p), keep_layout(), k->generation);
	if (!r)
		r = make_records(p);
	if (!r) {
		inherit_marks(k);
		r = memfile_seal(&k->own);
	}
	if (!r)
		r = master_link_keep(p->master, MASTER_LINK_FILE, k->own.fd, 1);
	memfile_close_fd(&k->own);
	if (r)
		report_msg(p->report, REPORT_ALERT,
			"cannot create the memory file of the process: %s", err_text(r));
	return r;
}

void
keep_forget_names(struct process *p)
{
	for (unsigned int i = 0; i < p->keep.n_former; i++)
		memfile_forget_names(&p->keep.former[i].view);
}

void
keep_close(struct process *p)
{
	struct keep *k = &p->keep;

	for (unsigned int i = 0; i < k->n_former; i++)
		memfile_close(&k->former[i].view);
	mem_free(k->former);
	k->former = NULL;
	k->n_former = 0;
	k->process = NULL;
	memfile_free(&k->own);
	process_tables_close(&k->tables);
	process_caches_close(&k->caches);
}

void
keep_after_turn(struct process *p)
{
	struct keep *k = &p->keep;
	uint64_t now;

	if (!k->process || !p->service)
		return;
	now = loop_now_ms(process_loop(p));
	if (now - k->noted_ms < NOTE_MS)
		return;
	k->noted_ms = now;
	p->service->note(p);
}

/* A later process adds it again with the same words, if they fit. */
static void
keep_words(struct server_kept *k, int argc, char *const *argv)
{
	struct sbuf line;

	sbuf_init_fixed(&line, k->line, sizeof(k->line));
	for (int i = 1; i < argc; i++) {
		if (!argv[i][0] || strchr(argv[i], ' '))
			line.failed = 1;
		sbuf_addf(&line, "%s%s", i > 1 ? " " : "", argv[i]);
	}
	if (line.failed)
		k->line[0] = '\0';
}

void
keep_add_server(struct process *p, struct server *s, int argc, char *const *argv)
{
	/* A message of each would be too many. */
	if (!p->keep.process || place_server(p, s))
		return;
	keep_words(s->kept, argc, argv);
	server_note(s);
}

void
keep_remove_server(struct process *p, struct server *s)
{
	s->kept = NULL;
	if (p->keep.process && s->has_placed_shards)
		memfile_remove(&p->keep.own, container_of(s->shard, struct kept_server, shard));
}

static void
clear_base_of_proxy(struct kept_proxy *own, int all)
{
	for (unsigned int i = 0; i < ARRAY_LEN(own->base); i++) {
		stat_clear_proxy(&own->base[i]);
		if (all)
			memset(&own->base[i], 0, sizeof(own->base[i]));
	}
}

static void
clear_base_of_server(struct kept_server *own, int all)
{
	stat_clear_server(&own->base);
	if (all)
		memset(&own->base, 0, sizeof(own->base));
}

void
keep_clear(struct process *p, int all)
{
	struct keep *k = &p->keep;

	if (!k->process)
		return;
	k->process->maxima_cleared = k->generation;
	if (all)
		k->process->cleared = k->generation;
	keep_numbers_clear(&p->info);
	list_each(it, &p->cfg->proxies.all) {
		struct proxy *px = list_entry(it, struct proxy, link);

		clear_base_of_proxy(container_of(px->shard, struct kept_proxy, shard), all);
		list_each(st, &px->servers) {
			struct server *s = list_entry(st, struct server, link);

			if (s->has_placed_shards)
				clear_base_of_server(
					container_of(s->shard, struct kept_server, shard), all);
		}
	}
}
