/* The keys of TLS tickets over reloads. First worker. They lie in pages of the memory file that are
 * no part of a core; each process keeps its own copy, since both change theirs while one drains. */
#include "app/process/process.h"
#include "base/err.h"
#include "tls/tickets.h"

#define KEY "tls tickets"

static int
wants_tickets(const struct process *p)
{
	return (p->cfg->global.reload_keep & KEEP_TICKETS) && p->cfg->tls.tickets;
}

size_t
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

int
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
