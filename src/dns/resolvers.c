/* A section `resolvers` and its life. Made while the configuration is read, started and stopped by
 * the process, used on the first worker. */
#include "dns/resolvers.h"

#include <string.h>

#include "base/compiler.h"
#include "base/err.h"
#include "base/mem.h"
#include "dns/lookup.h"
#include "dns/nameserver.h"

/* HAProxy's. */
#define RETRIES_DEFAULT 3
#define TIMEOUT_DEFAULT_MS 1000
#define HOLD_VALID_DEFAULT_MS 10000
#define HOLD_ERROR_DEFAULT_MS 30000

struct resolvers *
resolvers_new(const char *name)
{
	struct resolvers *res = mem_zalloc(sizeof(*res));

	if (!res)
		return NULL;
	res->name = mem_strdup(name);
	if (!res->name) {
		mem_free(res);
		return NULL;
	}
	list_init(&res->link);
	list_init(&res->nameservers);
	list_init(&res->lookups);
	res->payload = DNS_PAYLOAD_MIN;
	res->retries = RETRIES_DEFAULT;
	res->resolve_ms = res->retry_ms = TIMEOUT_DEFAULT_MS;
	for (int i = HOLD_NX; i < HOLDS; i++)
		res->hold_ms[i] = HOLD_ERROR_DEFAULT_MS;
	res->hold_ms[HOLD_VALID] = HOLD_VALID_DEFAULT_MS;
	res->on_message = dns_lookup_on_message;
	return res;
}

void
resolvers_free(struct resolvers **rp)
{
	struct resolvers *res = *rp;

	*rp = NULL;
	assert(!res->loop && list_is_empty(&res->lookups));
	list_remove(&res->link);
	list_each_safe(it, &res->nameservers) {
		struct dns_nameserver *ns = list_entry(it, struct dns_nameserver, link);

		dns_nameserver_free(&ns);
	}
	mem_free(res->name);
	mem_free(res);
}

struct dns_nameserver *
resolvers_find_nameserver(const struct resolvers *res, const char *name)
{
	list_each(it, &res->nameservers) {
		struct dns_nameserver *ns = list_entry(it, struct dns_nameserver, link);

		if (strcmp(ns->name, name) == 0)
			return ns;
	}
	return NULL;
}

int
resolvers_start(struct resolvers *res, struct loop *loop)
{
	res->buf = mem_alloc(res->payload + 1);
	if (!res->buf)
		return -ERR_NOMEM;
	res->loop = loop;
	random_init(&res->random, loop_sys(loop));
	list_each(it, &res->nameservers)
		dns_nameserver_start(list_entry(it, struct dns_nameserver, link));
	list_each(it, &res->lookups)
		dns_lookup_start(list_entry(it, struct dns_lookup, link));
	return 0;
}

void
resolvers_stop(struct resolvers *res)
{
	if (!res->loop)
		return;
	list_each_safe(it, &res->lookups)
		dns_lookup_stop(list_entry(it, struct dns_lookup, link));
	list_each(it, &res->nameservers)
		dns_nameserver_stop(list_entry(it, struct dns_nameserver, link));
	mem_free(res->buf);
	res->buf = NULL;
	res->loop = NULL;
}

/* --- resolv.conf ----------------------------------------------------------------------------- */

/* Lines `nameserver` of resolv.conf(5). Main thread, at start. */

#define BLANKS " \t\r\n"

/* 1: it was added, 0: it is no address or known, or -ERR_NOMEM. */
static int
add_conf_nameserver(struct resolvers *res, const char *text)
{
	struct dns_nameserver *ns;
	struct addr a;

	if (addr_parse_ip(text, &a) < 0 || resolvers_find_nameserver(res, text))
		return 0;
	ns = dns_nameserver_new(res, text);
	if (!ns)
		return -ERR_NOMEM;
	ns->where = res->where;
	ns->addr = a;
	addr_set_port(&ns->addr, DNS_PORT);
	list_append(&res->nameservers, &ns->link);
	res->n_nameservers++;
	return 1;
}

int
resolv_conf_add(struct resolvers *res, char *text)
{
	char *line, *rest = text, *word, *in_line;
	int n = 0, r;

	while ((line = strsep(&rest, "\n")) != NULL) {
		in_line = NULL;
		word = strtok_r(line, BLANKS, &in_line);
		if (!word || strcmp(word, "nameserver") != 0)
			continue;
		word = strtok_r(NULL, BLANKS, &in_line);
		r = word ? add_conf_nameserver(res, word) : 0;
		if (r < 0)
			return r;
		n += r;
	}
	return n;
}
