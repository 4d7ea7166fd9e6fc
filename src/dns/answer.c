/* The known records of a name, renewed by each response. On the first worker. */
#include "dns/answer.h"

#include <string.h>

#include "base/mem.h"

void
dns_answer_init(struct dns_answer *a)
{
	list_init(&a->items);
	a->n = 0;
	a->round = 0;
}

static void
remove_item(struct dns_answer *a, struct dns_item *it)
{
	list_remove(&it->link);
	mem_free(it);
	a->n--;
}

void
dns_answer_fini(struct dns_answer *a)
{
	while (!list_is_empty(&a->items))
		remove_item(a, list_first(&a->items, struct dns_item, link));
}

/* True if both are about the same server; weights and addresses of SRV targets may differ. */
static int
is_same_record(const struct dns_record *x, const struct dns_record *y)
{
	if (x->type != y->type)
		return 0;
	if (x->type == DNS_SRV)
		return x->port == y->port && strcmp(x->target, y->target) == 0;
	return addr_is_same_host(&x->addr, &y->addr);
}

static struct dns_item *
find_item(const struct dns_answer *a, const struct dns_record *r)
{
	list_each(it, &a->items) {
		struct dns_item *i = list_entry(it, struct dns_item, link);

		if (is_same_record(&i->record, r))
			return i;
	}
	return NULL;
}

static void
add_record(struct dns_answer *a, const struct dns_record *r, uint64_t now_ms)
{
	struct dns_item *i = find_item(a, r);

	if (!i) {
		/* Old ones are removed in time: the bound of a response is enough for the set. */
		i = a->n < 2 * DNS_RECORDS_MAX ? mem_alloc(sizeof(*i)) : NULL;
		if (!i)
			return;
		list_append(&a->items, &i->link);
		a->n++;
	}
	i->record = *r;
	i->seen_ms = now_ms;
	i->round = a->round;
}

void
dns_answer_merge(struct dns_answer *a, const struct dns_response *r, uint64_t now_ms,
	unsigned int hold_ms)
{
	a->round++;
	for (unsigned int k = 0; k < r->n; k++)
		add_record(a, &r->record[k], now_ms);
	list_each_safe(it, &a->items) {
		struct dns_item *i = list_entry(it, struct dns_item, link);

		if (i->round != a->round && i->seen_ms + hold_ms <= now_ms)
			remove_item(a, i);
	}
}
