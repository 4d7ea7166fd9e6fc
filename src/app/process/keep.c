/* The memory file of this worker process. First worker; others write only to their own shards in
 * it. A record never moves, and its memory stays until the process ends. */
#include "app/process/keep.h"

#include <string.h>

#include "app/process/process.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/sbuf.h"
#include "proxy/model/proxies.h"
#include "proxy/model/server_list.h"
#include "rule/match/pattern_kept.h"
#include "tls/tickets.h"

/* Time between two notes of the numbers of the process. */
#define NOTE_MS 100

/* Changes with the meaning of the structures' members. */
#define STATE_FORM 1u

uint32_t
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
		size += memfile_record_size(key, keep_guid(px->guid),
		proxy_size(px->n_shards));
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
