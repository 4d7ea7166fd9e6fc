/* The slots of captures, as the configuration declares them. */
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "proxy/model/capture_conf.h"

static size_t
bytes_of(const struct capture_conf *c)
{
	size_t n = 0;

	for (unsigned int k = 0; k < CAPTURE_KINDS; k++)
		for (unsigned int i = 0; i < c->n[k]; i++)
			n += c->slot[k][i].max;
	return n;
}

int
capture_add(struct capture_conf *c, enum capture_kind kind, const char *name, unsigned int max,
	unsigned int *out)
{
	unsigned int n = c->n[kind];
	struct capture_slot *more, *slot;

	if (n == CAPTURES_MAX || max > CAPTURE_LEN_MAX || bytes_of(c) + max > CAPTURE_ROOM_MAX)
		return -ERR_FULL;
	more = mem_resize(c->slot[kind], n + 1, sizeof(*more));
	if (!more)
		return -ERR_NOMEM;
	c->slot[kind] = more;
	slot = &more[n];
	*slot = (struct capture_slot){ .max = max };
	if (name) {
		slot->name = mem_strdup(name);
		if (!slot->name)
			return -ERR_NOMEM;
	}
	c->n[kind]++;
	*out = n;
	return 0;
}

int
capture_inherit(struct capture_conf *c, const struct capture_conf *defaults)
{
	unsigned int at;
	int r = 0;

	for (unsigned int k = 0; k < CAPTURE_KINDS; k++)
		for (unsigned int i = 0; r == 0 && i < defaults->n[k]; i++) {
			const struct capture_slot *slot = &defaults->slot[k][i];

			r = capture_add(c, (enum capture_kind)k, slot->name, slot->max, &at);
		}
	return r;
}

void
capture_conf_finish(struct capture_conf *c)
{
	uint32_t nth = 0, at;

	for (unsigned int k = 0; k < CAPTURE_KINDS; k++)
		for (unsigned int i = 0; i < c->n[k]; i++)
			c->slot[k][i].nth = nth++;
	at = nth * (uint32_t)sizeof(uint32_t);
	for (unsigned int k = 0; k < CAPTURE_KINDS; k++)
		for (unsigned int i = 0; i < c->n[k]; i++) {
			c->slot[k][i].at = at;
			at += c->slot[k][i].max;
		}
	c->size = at;
}

void
capture_forget(struct capture_conf *c, enum capture_kind kind)
{
	for (unsigned int i = 0; i < c->n[kind]; i++)
		mem_free(c->slot[kind][i].name);
	mem_free(c->slot[kind]);
	c->slot[kind] = NULL;
	c->n[kind] = 0;
}

void
capture_conf_fini(struct capture_conf *c)
{
	for (unsigned int k = 0; k < CAPTURE_KINDS; k++)
		capture_forget(c, (enum capture_kind)k);
	c->size = 0;
}
