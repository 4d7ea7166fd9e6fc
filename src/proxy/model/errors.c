/* The error pages of a proxy. Main thread while the configuration is read; only read after
 * that, by all workers. */
#include "proxy/model/errors.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "proxy/model/proxies.h"
#include "http/status.h"

/* --- pages --- */

struct error_page *
error_page_new(unsigned int status)
{
	struct error_page *p = mem_zalloc(sizeof(*p));

	if (!p)
		return NULL;
	p->refs = 1;
	p->status = status;
	return p;
}

static struct error_page *
error_page_get(struct error_page *p)
{
	p->refs++;
	return p;
}

void
error_page_put(struct error_page **pp)
{
	struct error_page *p = *pp;

	*pp = NULL;
	if (!p || --p->refs)
		return;
	for (unsigned int i = 0; i < p->n; i++) {
		mem_free(p->hdr[i].name);
		rule_fmt_free(&p->hdr[i].value);
	}
	rule_fmt_free(&p->fmt);
	mem_free(p->type);
	mem_free(p->text);
	mem_free(p);
}

int
error_page_add_hdr(struct error_page *p, const char *name, struct rule_fmt *value)
{
	struct error_page_hdr *h = &p->hdr[p->n];

	h->value = value;
	h->name = mem_strdup(name);
	p->n++;
	return h->name ? 0 : -ERR_NOMEM;
}

/* Checks the page when the configuration is complete. 0, or -1 with *why. */
static int
error_page_check(struct error_page *p, void *root, struct rule_err *why)
{
	for (unsigned int i = 0; i < p->n; i++)
		if (rule_fmt_check(p->hdr[i].value, root, why) < 0)
			return -1;
	return p->fmt ? rule_fmt_check(p->fmt, root, why) : 0;
}

static int
add_page_field(struct http_head *head, struct str name, struct str value)
{
	return http_add(head, name, value) < 0 ? -1 : 0;
}

int
error_page_make(const struct error_page *p, struct sample_ctx *cx, struct http_head *head,
	struct str *body)
{
	struct str value;
	char *digits;

	head->version = HTTP_1_1;
	head->status = p->status;
	head->reason = str_of(http_status_reason(p->status));
	head->n = 0;
	for (unsigned int i = 0; i < p->n; i++) {
		if (rule_fmt_text(p->hdr[i].value, cx, &value) < 0 || !http_value_is_valid(value))
			return -1;
		/* As in replies of rules: an empty value means no header. */
		if (value.len && add_page_field(head, str_of(p->hdr[i].name), value) < 0)
			return -1;
	}
	*body = (struct str){ p->text, p->len };
	if (p->fmt && rule_fmt_text(p->fmt, cx, body) < 0)
		return -1;
	digits = arena_get(cx->arena, HTTP_LENGTH_DIGITS);
	if (!digits || http_set_length(head, body->len, digits) < 0)
		return -1;
	return body->len ? add_page_field(head, STR("Content-Type"), str_of(p->type)) : 0;
}

/* --- error files of proxies --- */

void
proxy_errors_init(struct proxy_errors *e)
{
	memset(e, 0, sizeof(*e));
	list_init(&e->lines);
}

static void
free_line(struct error_line *l)
{
	list_remove(&l->link);
	http_reply_put(&l->reply);
	error_page_put(&l->page);
	mem_free(l->group);
	mem_free(l);
}

void
proxy_errors_fini(struct proxy_errors *e)
{
	list_each_safe(it, &e->lines)
		free_line(list_entry(it, struct error_line, link));
	for (int i = 0; i < HTTP_ERRORS; i++) {
		http_reply_put(&e->own[i]);
		error_page_put(&e->page[i]);
	}
}

int
proxy_errors_add(struct proxy_errors *e, uint32_t which, struct http_reply *reply,
	const char *group, struct cfg_where where)
{
	struct error_line *l = mem_zalloc(sizeof(*l));

	if (!l) {
		http_reply_put(&reply);
		return -ERR_NOMEM;
	}
	list_init(&l->link);
	l->which = which;
	l->reply = reply;
	l->where = where;
	if (mem_copy_string(&l->group, group) < 0) {
		free_line(l);
		return -ERR_NOMEM;
	}
	list_append(&e->lines, &l->link);
	return 0;
}

int
proxy_errors_add_page(struct proxy_errors *e, enum http_error_id id, struct error_page *page,
	struct cfg_where where)
{
	if (proxy_errors_add(e, 1u << id, NULL, NULL, where) < 0) {
		error_page_put(&page);
		return -ERR_NOMEM;
	}
	list_entry(e->lines.prev, struct error_line, link)->page = page;
	return 0;
}

int
proxy_errors_inherit(struct proxy_errors *e, const struct proxy_errors *defaults)
{
	list_each(it, &defaults->lines) {
		const struct error_line *l = list_entry(it, struct error_line, link);
		struct http_reply *r = l->reply ? http_reply_get(l->reply) : NULL;

		struct error_line *own;

		if (proxy_errors_add(e, l->which, r, l->group, l->where) < 0)
			return -ERR_NOMEM;
		own = list_entry(e->lines.prev, struct error_line, link);
		own->page = l->page ? error_page_get(l->page) : NULL;
		own->inherited = 1;
	}
	return 0;
}

static void
set_error(struct proxy_errors *e, int id, struct http_reply *r, struct error_page *p)
{
	http_reply_put(&e->own[id]);
	error_page_put(&e->page[id]);
	if (r)
		e->own[id] = http_reply_get(r);
	if (p)
		e->page[id] = error_page_get(p);
}

/* The group's last line for that error, or NULL. */
static struct http_reply *
in_group(const struct error_group *g, int id)
{
	struct http_reply *r = NULL;

	list_each(it, &g->errors.lines) {
		const struct error_line *l = list_entry(it, struct error_line, link);

		if (l->which & 1u << id)
			r = l->reply;
	}
	return r;
}

/* 0, or -1 after an error. */
static int
check_page(const struct error_line *l, struct proxies *ps, struct cfg_diag *d)
{
	struct rule_err why = { 0 };

	if (!l->page || error_page_check(l->page, ps, &why) == 0)
		return 0;
	cfg_diag_add(d, CFG_ALERT, &l->where, "'http-error' : %s.", why.text);
	return -1;
}

int
proxy_errors_resolve(struct proxy_errors *e, struct proxies *ps, struct cfg_diag *d)
{
	int rc = 0;

	list_each(it, &e->lines) {
		const struct error_line *l = list_entry(it, struct error_line, link);
		const struct error_group *g = NULL;

		if (l->group && !(g = error_group_find(ps, l->group))) {
			cfg_diag_add(d, CFG_ALERT, &l->where,
				"unable to find the http-errors section '%s'.", l->group);
			rc = -1;
			continue;
		}
		if (check_page(l, ps, d) < 0)
			rc = -1;
		for (int id = 0; id < HTTP_ERRORS; id++) {
			struct http_reply *r = g ? in_group(g, id) : l->reply;

			/* Errors that the group does not define are unchanged. */
			if (l->which & 1u << id && (r || !g))
				set_error(e, id, r, l->page);
		}
	}
	return rc;
}

static int
check_page_sizes(const struct proxy_errors *e, size_t most, struct cfg_diag *d)
{
	int rc = 0;

	list_each(it, &e->lines) {
		const struct error_line *l = list_entry(it, struct error_line, link);
		size_t size = l->reply ? http_reply_size(l->reply) : 0;

		if (size <= most || l->inherited)
			continue;
		cfg_diag_add(d, CFG_ALERT, &l->where,
			"this response is too large: %zu bytes, where tune.bufsize minus "
			"tune.maxrewrite is %zu.",
			size, most);
		rc = -1;
	}
	return rc;
}

int
proxies_fit_errors(const struct proxies *ps, size_t most, struct cfg_diag *d)
{
	int rc = 0;

	list_each(it, &ps->defaults) {
		rc |= check_page_sizes(&list_entry(it, struct proxy, link)->errors, most, d);
	}
	list_each(it, &ps->all) {
		rc |= check_page_sizes(&list_entry(it, struct proxy, link)->errors, most, d);
	}
	list_each(it, &ps->error_groups) {
		rc |= check_page_sizes(&list_entry(it, struct error_group, link)->errors, most, d);
	}
	return rc;
}

struct error_group *
error_group_find(const struct proxies *ps, const char *name)
{
	return name_index_find(&ps->error_group_names, name);
}

struct http_reply *
error_group_page(const void *root, const char *name, unsigned int status, const char **why)
{
	const struct error_group *g = error_group_find(root, name);
	int id = http_error_id(status);
	struct http_reply *r = g && id >= 0 ? in_group(g, id) : NULL;

	*why = !g ? "there is no such section" : !r ? "there is no such page" : NULL;
	return *why ? NULL : r;
}

void
error_group_free(struct error_group **gp)
{
	struct error_group *g = *gp;

	if (!g)
		return;
	*gp = NULL;
	list_remove(&g->link);
	proxy_errors_fini(&g->errors);
	mem_free(g->name);
	mem_free(g);
}

static int
page_id(unsigned int status)
{
	int id = http_error_id(status);

	return id < 0 ? HTTP_ERROR_500 : id;
}

const struct error_page *
proxy_error_page(const struct proxy *fe, const struct proxy *be, unsigned int status)
{
	int id = page_id(status);

	if (be && (be->errors.page[id] || be->errors.own[id]))
		return be->errors.page[id];
	return fe->errors.page[id];
}

const struct http_reply *
proxy_error(const struct proxy *fe, const struct proxy *be, unsigned int status)
{
	int id = page_id(status);

	if (be && be->errors.own[id])
		return be->errors.own[id];
	return fe->errors.own[id] ? fe->errors.own[id] : http_error((enum http_error_id)id);
}
