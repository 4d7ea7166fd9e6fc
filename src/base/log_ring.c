/* Rings of log messages. Any thread posts, by one exchange on a stack of batches; the owner takes
 * the whole stack, so no batch is seen twice. Stored messages belong to the owner alone. */
#include "base/log_ring.h"

#include <stdio.h>
#include <string.h>

#include "base/atomic.h"
#include "base/counter.h"
#include "base/err.h"
#include "base/mem.h"

void
log_ring_init(struct log_ring *r)
{
	memset(r, 0, sizeof(*r));
	r->form = LOG_FORM_RAW;
	r->maxlen = LOG_LEN_DEFAULT;
	r->size = LOG_RING_DEFAULT_SIZE;
	list_init(&r->readers);
}

int
log_ring_open(struct log_ring *r)
{
	if (!r->mem)
		r->mem = mem_alloc(r->size);
	return r->mem ? 0 : -ERR_NOMEM;
}

void
log_ring_fini(struct log_ring *r)
{
	while (r->posted) {
		struct log_batch *b = r->posted;

		r->posted = b->next;
		mem_free(b);
	}
	mem_free(r->mem);
	r->mem = NULL;
}

/* --- any thread --- */

int
log_ring_post(struct log_ring *r, struct log_batch *b)
{
	struct log_batch *was;

	if (atomic_add(&r->posted_bytes, b->len) > LOG_RING_POSTED_MAX) {
		(void)atomic_sub(&r->posted_bytes, b->len);
		return -ERR_FULL;
	}
	was = atomic_read(&r->posted);
	/* After the exchange the batch belongs to the owner, which may have freed it. */
	do {
		b->next = was;
	} while (!atomic_replace(&r->posted, &was, b));
	return !was;
}

void
log_ring_count_lost(struct log_ring *r, unsigned int n)
{
	(void)atomic_add(&r->unreported, n);
}

/* --- stored messages --- */

static void
copy_in(struct log_ring *r, uint64_t at, const void *p, size_t n)
{
	size_t place = (size_t)(at % r->size), first = MIN(n, r->size - place);

	memcpy(r->mem + place, p, first);
	memcpy(r->mem, (const char *)p + first, n - first);
}

static void
copy_out(const struct log_ring *r, uint64_t at, void *p, size_t n)
{
	size_t place = (size_t)(at % r->size), first = MIN(n, r->size - place);

	memcpy(p, r->mem + place, first);
	memcpy((char *)p + first, r->mem, n - first);
}

long
log_ring_len(const struct log_ring *r, uint64_t at)
{
	uint32_t len;

	if (at >= r->tail)
		return -1;
	copy_out(r, at, &len, sizeof(len));
	return (long)len;
}

uint64_t
log_ring_copy(const struct log_ring *r, uint64_t at, char *out)
{
	size_t len = (size_t)log_ring_len(r, at);

	copy_out(r, at + LOG_RING_OVERHEAD, out, len);
	return at + LOG_RING_OVERHEAD + len;
}

static int
oldest_is_held(const struct log_ring *r)
{
	list_each(it, (struct list *)(uintptr_t)&r->readers) {
		const struct log_ring_reader *rd = list_entry(it, struct log_ring_reader, link);

		if (rd->holds && rd->at == r->head)
			return 1;
	}
	return 0;
}

/* Readers at the oldest message advance to the next one. */
static void
forget_oldest(struct log_ring *r)
{
	uint64_t next = r->head + LOG_RING_OVERHEAD + (size_t)log_ring_len(r, r->head);

	list_each(it, &r->readers) {
		struct log_ring_reader *rd = list_entry(it, struct log_ring_reader, link);

		if (rd->at != r->head)
			continue;
		rd->at = next;
		if (rd->is_target)
			counter_add(&r->dropped, 1);
	}
	r->head = next;
}

/* Room for n bytes of messages, made by forgetting the oldest ones. 0, or -ERR_FULL. */
static int
make_ring_room(struct log_ring *r, size_t n)
{
	if (n > r->size)
		return -ERR_FULL;
	while (r->size - (size_t)(r->tail - r->head) < n) {
		if (oldest_is_held(r))
			return -ERR_FULL;
		forget_oldest(r);
	}
	return 0;
}

static int
store_message(struct log_ring *r, const char *p, uint32_t len)
{
	if (make_ring_room(r, LOG_RING_OVERHEAD + len) < 0)
		return -ERR_FULL;
	copy_in(r, r->tail, &len, sizeof(len));
	copy_in(r, r->tail + sizeof(len), p, len);
	r->tail += LOG_RING_OVERHEAD + len;
	return 0;
}

/* In HAProxy's words. */
static int
report_losses(struct log_ring *r, struct log_sink *k)
{
	char text[LOG_LEN_MIN], whole[sizeof(text) + LOG_HEAD_MAX];
	uint64_t n = atomic_read(&r->unreported);
	size_t len;

	if (!n)
		return 0;
	(void)snprintf(text, sizeof(text), "%llu event%s dropped", (unsigned long long)n,
		n > 1 ? "s" : "");
	len = log_compose(k, r->form, r->facility, LOG_LEVEL_NOTICE, text, whole, sizeof(whole));
	if (store_message(r, whole, (uint32_t)len) < 0)
		return -ERR_FULL;
	(void)atomic_sub(&r->unreported, n);
	return 0;
}

static void
store_batch(struct log_ring *r, struct log_sink *k, const struct log_batch *b)
{
	for (size_t at = 0; at < b->len;) {
		uint32_t len;

		memcpy(&len, b->text + at, sizeof(len));
		at += sizeof(len);
		if (report_losses(r, k) < 0 || store_message(r, b->text + at, len) < 0) {
			log_ring_count_lost(r, 1);
			counter_add(&r->dropped, 1);
		}
		at += len;
	}
}

/* Oldest first. */
static struct log_batch *
take_posted(struct log_ring *r)
{
	struct log_batch *newest = atomic_swap(&r->posted, NULL), *oldest = NULL;

	while (newest) {
		struct log_batch *b = newest;

		newest = b->next;
		b->next = oldest;
		oldest = b;
	}
	return oldest;
}

void
log_ring_collect(struct log_ring *r, struct log_sink *k)
{
	struct log_batch *b = take_posted(r);
	uint64_t before = r->tail;

	while (b) {
		struct log_batch *next = b->next;

		store_batch(r, k, b);
		(void)atomic_sub(&r->posted_bytes, b->len);
		mem_free(b);
		b = next;
	}
	if (r->tail == before)
		return;
	list_each_safe(it, &r->readers) {
		struct log_ring_reader *rd = list_entry(it, struct log_ring_reader, link);

		rd->on_news(rd);
	}
}

/* --- readers --- */

void
log_ring_join(struct log_ring *r, struct log_ring_reader *rd, int from_end)
{
	rd->ring = r;
	rd->at = from_end ? r->tail : r->head;
	list_append(&r->readers, &rd->link);
}

void
log_ring_leave(struct log_ring_reader *rd)
{
	if (rd->ring)
		list_remove(&rd->link);
	rd->ring = NULL;
}

void
log_ring_advance(struct log_ring_reader *rd)
{
	rd->at += LOG_RING_OVERHEAD + (size_t)log_ring_len(rd->ring, rd->at);
}
