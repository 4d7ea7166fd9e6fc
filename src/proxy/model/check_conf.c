/* Settings of health checks as data. Built by the main thread while the configuration is read,
 * only read after that. A rule that is borrowed from a defaults section owns nothing. */
#include "proxy/model/check_conf.h"

#include <string.h>

#include "base/err.h"
#include "base/mem.h"

/* --- rules --- */

static void
check_text_fini(struct check_text *t)
{
	mem_free(t->p);
	rule_fmt_free(&t->fmt);
	memset(t, 0, sizeof(*t));
}

static void
check_pattern_fini(struct check_pattern *p)
{
	check_text_fini(&p->text);
	regex_free(&p->regex);
}

static void
check_send_fini(struct check_send *s)
{
	check_text_fini(&s->data);
	check_text_fini(&s->uri);
	check_text_fini(&s->body);
	mem_free(s->method);
	mem_free(s->version);
	for (unsigned int i = 0; i < s->n_headers; i++) {
		mem_free(s->headers[i].name);
		rule_fmt_free(&s->headers[i].value);
	}
	mem_free(s->headers);
}

static void
check_expect_fini(struct check_expect *e)
{
	check_pattern_fini(&e->pattern);
	check_pattern_fini(&e->value);
	mem_free(e->ranges);
	rule_fmt_free(&e->on_success);
	rule_fmt_free(&e->on_error);
	rule_expr_free(&e->status_code);
}

static void
check_rule_fini(struct check_rule *r)
{
	mem_free(r->comment);
	switch (r->kind) {
	case CHECK_RULE_CONNECT:
		rule_expr_free(&r->u.connect.port_expr);
		mem_free(r->u.connect.sni);
		mem_free(r->u.connect.alpn.p);
		break;
	case CHECK_RULE_SEND:
		check_send_fini(&r->u.send);
		break;
	case CHECK_RULE_EXPECT:
		check_expect_fini(&r->u.expect);
		break;
	case CHECK_RULE_SET_VAR:
	case CHECK_RULE_UNSET_VAR:
		rule_expr_free(&r->u.var.expr);
		rule_fmt_free(&r->u.var.fmt);
		break;
	}
}

static void
check_rule_free(struct check_rule *r)
{
	list_remove(&r->link);
	if (!r->is_borrowed)
		check_rule_fini(r);
	mem_free(r);
}

void
check_conf_drop_rules(struct check_conf *c)
{
	list_each_safe(it, &c->rules) {
		check_rule_free(list_entry(it, struct check_rule, link));
	}
}

void
check_conf_set_family(struct check_conf *c, enum check_family family)
{
	if (c->own_rules && c->family == family)
		return;
	check_conf_drop_rules(c);
	mem_free(c->comment);
	c->comment = NULL;
	c->own_rules = 1;
	c->begins_with_connect = 0;
	c->steps = 0;
	c->order.missing = NULL;
	c->family = family;
}

struct check_rule *
check_rule_add(struct check_conf *c, enum check_rule_kind kind, struct cfg_where where)
{
	struct check_rule *r = mem_zalloc(sizeof(*r));

	if (!r)
		return NULL;
	r->kind = kind;
	r->where = where;
	r->step = ++c->steps;
	r->comment = c->comment;
	c->comment = NULL;
	if (kind == CHECK_RULE_EXPECT)
		r->u.expect.min_recv = -1;
	list_append(&c->rules, &r->link);
	return r;
}

/* --- checks of a backend --- */

void
check_conf_init(struct check_conf *c)
{
	memset(c, 0, sizeof(*c));
	list_init(&c->rules);
}

int
check_rule_is_on_var(const struct check_rule *r)
{
	return r->kind == CHECK_RULE_SET_VAR || r->kind == CHECK_RULE_UNSET_VAR;
}

const struct check_rule *
check_conf_last_rule(const struct check_conf *c)
{
	for (const struct list *it = c->rules.prev; it != &c->rules; it = it->prev) {
		const struct check_rule *r = list_entry(it, const struct check_rule, link);

		if (!check_rule_is_on_var(r))
			return r;
	}
	return NULL;
}

int
check_conf_has_ssl(const struct check_conf *c)
{
	list_each(it, &c->rules) {
		const struct check_rule *r = list_entry(it, const struct check_rule, link);

		if (r->kind == CHECK_RULE_CONNECT && r->u.connect.ssl)
			return 1;
	}
	return 0;
}

void
check_request_fini(struct check_request *r)
{
	mem_free(r->method);
	mem_free(r->uri);
	mem_free(r->version);
	mem_free(r->raw);
	memset(r, 0, sizeof(*r));
}

void
check_conf_fini(struct check_conf *c)
{
	check_conf_drop_rules(c);
	check_request_fini(&c->request);
	mem_free(c->command);
	mem_free(c->path);
	mem_free(c->user);
	mem_free(c->comment);
	c->command = c->path = c->user = c->comment = NULL;
}

static int
borrow_rules(struct check_conf *to, const struct check_conf *from)
{
	list_each(it, &from->rules) {
		const struct check_rule *r = list_entry(it, const struct check_rule, link);
		struct check_rule *copy = mem_alloc(sizeof(*copy));

		if (!copy)
			return -ERR_NOMEM;
		*copy = *r;
		copy->is_borrowed = 1;
		list_init(&copy->link);
		list_append(&to->rules, &copy->link);
	}
	return 0;
}

int
check_conf_inherit(struct check_conf *to, const struct check_conf *from)
{
	to->method = from->method;
	to->where = from->where;
	to->pre_41 = from->pre_41;
	to->disable_on_404 = from->disable_on_404;
	to->send_state = from->send_state;
	to->family = from->family;
	if (mem_copy_string(&to->user, from->user) < 0 ||
		mem_copy_string(&to->command, from->command) < 0 ||
		mem_copy_string(&to->path, from->path) < 0 ||
		mem_copy_string(&to->request.method, from->request.method) < 0 ||
		mem_copy_string(&to->request.uri, from->request.uri) < 0 ||
		mem_copy_string(&to->request.version, from->request.version) < 0 ||
		mem_copy_string(&to->request.raw, from->request.raw) < 0)
		return -ERR_NOMEM;
	return borrow_rules(to, from);
}

/* --- statuses --- */

static const struct {
	enum check_result result;
	const char *code, *text;
} statuses[CHECK_STATUSES] = {
#define CHECK_STATUS(id, result, code, text) [CHECK_##id] = { CHECK_##result, code, text },
#include "proxy/model/check_status.tbl.h"
#undef CHECK_STATUS
};

enum check_result
check_status_result(enum check_status s)
{
	return statuses[s].result;
}

const char *
check_status_code(enum check_status s)
{
	return statuses[s].code;
}

const char *
check_status_text(enum check_status s)
{
	return statuses[s].text;
}

/* --- checks of a server --- */

#define RISE_DEFAULT 2
#define FALL_DEFAULT 3
#define ERROR_LIMIT_DEFAULT 10

void
check_server_conf_init(struct check_server_conf *c)
{
	memset(c, 0, sizeof(*c));
	c->rise = RISE_DEFAULT;
	c->fall = FALL_DEFAULT;
	c->error_limit = ERROR_LIMIT_DEFAULT;
}

void
check_server_conf_fini(struct check_server_conf *c)
{
	mem_free(c->agent_send);
	mem_free(c->track);
	c->agent_send = c->track = NULL;
}

int
check_server_conf_copy(struct check_server_conf *to, const struct check_server_conf *from)
{
	char *agent_send, *track;

	if (mem_copy_string(&agent_send, from->agent_send) < 0)
		return -ERR_NOMEM;
	if (mem_copy_string(&track, from->track) < 0) {
		mem_free(agent_send);
		return -ERR_NOMEM;
	}
	*to = *from;
	to->agent_send = agent_send;
	to->track = track;
	return 0;
}

unsigned int
check_status_number(enum check_status s)
{
	static const unsigned char numbers[CHECK_STATUSES] = {
		[CHECK_UNK] = 0, [CHECK_INI] = 1, [CHECK_CHECKED] = 3, [CHECK_HANA] = 4,
		[CHECK_SOCKERR] = 5, [CHECK_L4OK] = 6, [CHECK_L4TOUT] = 7, [CHECK_L4CON] = 8,
		[CHECK_L6OK] = 9, [CHECK_L6TOUT] = 10, [CHECK_L6RSP] = 11, [CHECK_L7TOUT] = 12,
		[CHECK_L7RSP] = 13, [CHECK_L7OK] = 15, [CHECK_L7OKC] = 16, [CHECK_L7STS] = 17,
		[CHECK_PROCERR] = 18, [CHECK_PROCTOUT] = 19, [CHECK_PROCOK] = 20
	};

	return numbers[s];
}

enum check_status
check_status_of_number(unsigned int n)
{
	int s = 0;

	while (s < CHECK_STATUSES && check_status_number((enum check_status)s) != n)
		s++;
	return (enum check_status)s;
}
