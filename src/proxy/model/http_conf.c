/* HTTP settings of a proxy: defaults, inheritance, freeing. Main thread; only read after that,
 * by all workers. */
#include "proxy/model/http_conf.h"

#include <string.h>

#include "base/mem.h"
#include "proxy/model/proxy.h"

void
http_conf_init(struct http_conf *c)
{
	memset(c, 0, sizeof(*c));
	c->retry_on = 1u << HTTP_RETRY_CONN_FAILURE;
	c->max_ka_queue = -1;
	list_init(&c->monitor_fails);
}

void
http_conf_fini(struct http_conf *c)
{
	mem_free(c->monitor_uri);
	c->monitor_uri = NULL;
	mem_free(c->send_name);
	c->send_name = NULL;
	list_each_safe(it, &c->monitor_fails) {
		struct monitor_rule *r = list_entry(it, struct monitor_rule, link);

		monitor_rule_free(&r);
	}
}

int
http_conf_inherit(struct http_conf *c, const struct http_conf *defaults, unsigned int caps)
{
	int r = 0;

	c->reuse = defaults->reuse;
	c->persistence = defaults->persistence;
	c->retry_on = defaults->retry_on;
	c->max_ka_queue = defaults->max_ka_queue;
	c->names = defaults->names;
	if (caps & (PROXY_FE | PROXY_DEFAULTS))
		r = mem_copy_string(&c->monitor_uri, defaults->monitor_uri);
	if (r == 0 && caps & (PROXY_BE | PROXY_DEFAULTS))
		r = mem_copy_string(&c->send_name, defaults->send_name);
	return r;
}

int
http_closes_client(const struct proxy *fe)
{
	return fe->http.persistence == HTTP_CLOSE;
}

int
http_closes_server(const struct proxy *fe, const struct proxy *be)
{
	return fe->http.persistence != HTTP_KEEP_ALIVE || be->http.persistence != HTTP_KEEP_ALIVE;
}

int
http_retries(const struct proxy *be, enum http_retry what)
{
	return (be->http.retry_on & 1u << what) != 0;
}

int
http_retries_status(const struct proxy *be, unsigned int status)
{
	switch (status) {
#define HTTP_RETRY(id, name, all, text)
#define HTTP_RETRY_STATUS(st, all) \
	case st:                   \
		return http_retries(be, HTTP_RETRY_##st);
#include "proxy/model/http_retry.tbl.h"
#undef HTTP_RETRY_STATUS
#undef HTTP_RETRY
	default:
		return 0;
	}
}

void
monitor_rule_free(struct monitor_rule **r)
{
	if (!*r)
		return;
	list_remove(&(*r)->link);
	rule_cond_free(&(*r)->cond);
	mem_free(*r);
	*r = NULL;
}
