/* Rings of the configuration. Main thread, while it is read; the clients of their servers are the
 * first worker's. */
#include "proxy/model/ring_conf.h"

#include "base/err.h"
#include "base/mem.h"
#include "tls/connect.h"

/* As HAProxy's. */
#define BUF0_SIZE (1u << 20)

struct ring_conf *
ring_conf_find(const struct list *rings, const char *name)
{
	list_each(it, (struct list *)(uintptr_t)rings) {
		struct ring_conf *c = list_entry(it, struct ring_conf, link);

		if (strcmp(c->name, name) == 0)
			return c;
	}
	return NULL;
}

struct ring_conf *
ring_conf_add(struct list *rings, const char *name)
{
	struct ring_conf *c = mem_zalloc(sizeof(*c));

	if (!c || mem_copy_string(&c->name, name) < 0) {
		mem_free(c);
		return NULL;
	}
	list_init(&c->servers);
	log_ring_init(&c->ring);
	list_append(rings, &c->link);
	return c;
}

struct ring_conf *
ring_conf_buf0(struct list *rings)
{
	struct ring_conf *c = ring_conf_find(rings, "buf0");

	if (c)
		return c;
	c = ring_conf_add(rings, "buf0");
	if (!c || mem_copy_string(&c->description, "in-memory ring buffer") < 0)
		return NULL;
	c->is_declared = 1;
	c->ring.form = LOG_FORM_TIMED;
	c->ring.size = BUF0_SIZE;
	c->ring.maxlen = LOG_LEN_MAX;
	return c;
}

struct ring_server *
ring_conf_add_server(struct ring_conf *c, const char *name)
{
	struct ring_server *s = mem_zalloc(sizeof(*s));

	if (!s || mem_copy_string(&s->name, name) < 0) {
		mem_free(s);
		return NULL;
	}
	s->ring = c;
	list_append(&c->servers, &s->link);
	return s;
}

static void
free_ring(struct ring_conf *c)
{
	list_each_safe(it, &c->servers) {
		struct ring_server *s = list_entry(it, struct ring_server, link);

		tls_server_free(&s->tls);
		server_tls_fini(&s->tls_conf);
		mem_free(s->name);
		mem_free(s);
	}
	log_ring_fini(&c->ring);
	mem_free(c->name);
	mem_free(c->description);
	mem_free(c->backing_file);
	mem_free(c);
}

void
ring_confs_free(struct list *rings)
{
	list_each_safe(it, rings) {
		list_remove(it);
		free_ring(list_entry(it, struct ring_conf, link));
	}
}

static void
settle_ring(struct ring_conf *c, struct cfg_diag *d)
{
	size_t most = c->ring.size - LOG_RING_OVERHEAD;

	if (c->ring.maxlen > most) {
		cfg_diag_add(d, CFG_WARNING, &c->where,
			"ring '%s' event max length '%u' exceeds size, forced to size '%zu'.",
			c->name, c->ring.maxlen, most);
		c->ring.maxlen = (unsigned int)most;
	}
	list_each(it, &c->servers) {
		struct ring_server *s = list_entry(it, struct ring_server, link);

		s->conf.connect_ms = c->connect_ms;
		s->conf.server_ms = c->server_ms;
	}
}

int
ring_confs_finish(struct list *rings, struct cfg_diag *d)
{
	int r = 0;

	list_each(it, rings) {
		struct ring_conf *c = list_entry(it, struct ring_conf, link);

		if (!c->is_declared && !cfg_diag_is_lost(d, c->name)) {
			cfg_diag_add(d, CFG_ALERT, &c->where,
				"'log' : there is no section 'ring %s'.", c->name);
			r = -1;
		}
		settle_ring(c, d);
		if (log_ring_open(&c->ring) < 0) {
			cfg_diag_add(d, CFG_ALERT, &c->where, "%s", err_text(-ERR_NOMEM));
			r = -1;
		}
	}
	return r;
}

int
ring_confs_each_tls(const struct list *rings, ring_server_fn *fn, void *arg)
{
	int r = 0;

	list_each(it, (struct list *)(uintptr_t)rings) {
		struct ring_conf *c = list_entry(it, struct ring_conf, link);

		list_each(st, &c->servers) {
			struct ring_server *s = list_entry(st, struct ring_server, link);

			if (!r && s->tls_conf.is_on)
				r = fn(s, arg);
		}
	}
	return r;
}

int
ring_confs_use_tls(const struct list *rings)
{
	list_each(it, (struct list *)(uintptr_t)rings) {
		const struct ring_conf *c = list_entry(it, const struct ring_conf, link);

		list_each(st, (struct list *)(uintptr_t)&c->servers)
			if (list_entry(st, const struct ring_server, link)->tls_conf.is_on)
				return 1;
	}
	return 0;
}

unsigned int
ring_confs_descriptors(const struct list *rings)
{
	unsigned int n = 0;

	list_each(it, (struct list *)(uintptr_t)rings) {
		const struct ring_conf *c = list_entry(it, const struct ring_conf, link);

		n += c->backing_file != NULL;
		list_each(st, (struct list *)(uintptr_t)&c->servers)
			n++;
	}
	return n;
}

enum log_form
ring_conf_form(struct log_ring *r, enum log_form form)
{
	const struct ring_conf *c = container_of(r, struct ring_conf, ring);

	if (c->is_implicit)
		r->form = form;
	return r->form;
}
