/* The files of previous worker processes. First worker, before others run. Their processes may
 * write on, and may be hostile: sizes are verified here, once, and the rest is numbers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/process/keep.h"
#include "app/process/process.h"
#include "base/err.h"
#include "base/mem.h"
#include "proxy/model/proxies.h"

static void
report_refused(const struct report *report, const char *why)
{
	report_msg(report, REPORT_WARNING,
		"the memory file of a previous worker process cannot be used: %s. Its counters "
		"start from zero.",
		why);
}

static void
open_one(struct keep *k, struct sys *sys, const struct report *report, int fd, int has_ended)
{
	struct keep_former *f = mem_resize(k->former, k->n_former + 1, sizeof(*f));
	const char *why = "out of memory";

	if (f)
		k->former = f;
	if (!f || memfile_open(&f[k->n_former].view, sys, fd, keep_layout(), &why)) {
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
shards_in(const struct memfile_item *item, uint32_t said, size_t head, size_t size,
	unsigned int rows)
{
	size_t latency = rows * sizeof(struct latency_row);

	if (item->len < head + latency)
		return 0;
	return said <= ENGINES_MAX && said <= (item->len - head - latency) / (size + latency)
		? said : 0;
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

struct latency_rows
keep_proxy_latency(const struct kept_proxy *k, unsigned int n, unsigned int i)
{
	return latency_rows_of(k->shard, sizeof(k->shard[0]), n, i, &k->latency[i]);
}

struct latency_rows
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

void
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

int
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

int
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
