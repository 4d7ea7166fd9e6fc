/* Copies of states that outlive the process. First worker, which changes the states. A copy may be
 * half written when the process dies: each of its fields is whole. */
#include "proxy/model/server_kept.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "proxy/model/proxy.h"

static void
note_check(struct check_kept *k, const struct check *c)
{
	k->exists = c != NULL;
	if (!c)
		return;
	k->enabled = c->enabled;
	k->rise = c->rise;
	k->fall = c->fall;
	k->health = c->health;
	k->status = (int32_t)c->status;
	k->code = c->code;
	k->duration_ms = c->duration_ms;
	k->fails = c->fails;
	k->observed_fails = c->observed_fails;
	(void)snprintf(k->info, sizeof(k->info), "%s", c->info);
}

void
server_note(const struct server *s)
{
	struct server_kept *k = s->kept;

	if (!k)
		return;
	k->admin = s->admin;
	k->oper = (uint32_t)s->oper;
	k->weight = s->uweight;
	k->downs = s->downs;
	k->last_change_ms = s->last_change_ms;
	k->down_since_ms = s->down_since_ms;
	k->down_ms = s->down_ms;
	(void)addr_cell_get(&s->addr, &k->addr);
	(void)snprintf(k->fqdn, sizeof(k->fqdn), "%s", s->fqdn ? s->fqdn : "");
	note_check(&k->check, s->check);
	note_check(&k->agent, s->agent);
	k->is_set = 1;
}

void
proxy_note(const struct proxy *be)
{
	struct proxy_kept *k = be->kept;

	if (!k)
		return;
	k->downs = be->downs;
	k->is_up = proxy_usable_servers(be) != 0;
	k->last_change_ms = be->last_change_ms;
	k->down_since_ms = be->down_since_ms;
	k->down_ms = be->down_ms;
	k->is_set = 1;
}

void
check_set_enabled(struct check *c, int on)
{
	c->enabled = on != 0;
	server_note(c->srv);
}

/* A name stands for whatever address it has. */
uint32_t
server_conf_addr(const struct server *s)
{
	const struct addr *a = &s->spec.addr;
	uint32_t h = hash_crc32c(0, &s->spec.port_lo, sizeof(s->spec.port_lo));
	char text[ADDR_TEXT];

	h = hash_crc32c(h, &s->spec.port_offset, sizeof(s->spec.port_offset));
	if (s->fqdn)
		return hash_crc32c(h, s->fqdn, strlen(s->fqdn));
	(void)addr_text(a, text);
	return hash_crc32c(h, text, strlen(text));
}
