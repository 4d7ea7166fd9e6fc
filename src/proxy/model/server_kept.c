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

static void
note_target(struct check_target_kept *k, const struct addr *a, unsigned int port, const char *send)
{
	k->port = port;
	k->addr = *a;
	(void)snprintf(k->send, sizeof(k->send), "%s", send ? send : "");
}

static void
note_targets(struct server_kept *k, const struct check_server_conf *c)
{
	note_target(&k->check_to, &c->addr, c->port, NULL);
	note_target(&k->agent_to, &c->agent_addr, c->agent_port, c->agent_send);
}

static uint32_t
target_hash(const struct check_target_kept *k)
{
	uint32_t h = hash_crc32c(0, &k->port, sizeof(k->port));
	char text[ADDR_TEXT] = "";

	if (k->addr.len)
		(void)addr_text(&k->addr, text);
	h = hash_crc32c(h, text, strlen(text));
	return hash_crc32c(h, k->send, strlen(k->send));
}

void
server_note_conf(struct server_kept *k, const struct server *s)
{
	k->conf_addr = server_conf_addr(s);
	k->conf_weight = s->conf.weight;
	k->conf_disabled = (uint32_t)s->conf.disabled;
	k->maxconn.conf = s->conf.maxconn;
	k->tls.conf = s->conf.tls.is_on;
	note_targets(k, &s->conf.check);
	k->check_to.conf = target_hash(&k->check_to);
	k->agent_to.conf = target_hash(&k->agent_to);
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
	note_targets(k, &s->conf.check);
	k->maxconn.now = s->conf.maxconn;
	k->tls.now = s->conf.tls.is_on;
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
	k->maxconn.now = be->maxconn;
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
