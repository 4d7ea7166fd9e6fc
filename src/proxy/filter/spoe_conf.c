/* An engine of SPOE: names, and its end. Main thread. */
#include "proxy/filter/spoe_conf.h"

#include <string.h>

#include "base/mem.h"
#include "base/sbuf.h"

/* --- names --- */

const struct cfg_enum spoe_event_words[] = {
	{ "on-client-session", SPOE_CLIENT_SESSION, NULL },
	{ "on-frontend-tcp-request", SPOE_FE_TCP_REQUEST, NULL },
	{ "on-backend-tcp-request", SPOE_BE_TCP_REQUEST, NULL },
	{ "on-frontend-http-request", SPOE_FE_HTTP_REQUEST, NULL },
	{ "on-backend-http-request", SPOE_BE_HTTP_REQUEST, NULL },
	{ "on-server-session", SPOE_SERVER_SESSION, NULL },
	{ "on-tcp-response", SPOE_TCP_RESPONSE, NULL },
	{ "on-http-response", SPOE_HTTP_RESPONSE, NULL },
	{ NULL, 0, NULL },
};

int
spoe_var_name(const char *scope, const char *prefix, struct str name, struct var_name *out,
	const char **why)
{
	char text[8 + 2 * VAR_NAME_MAX];
	struct sbuf b;

	*why = "the name is too long";
	sbuf_init_fixed(&b, text, sizeof(text));
	sbuf_adds(&b, scope);
	sbuf_addc(&b, '.');
	sbuf_adds(&b, prefix);
	sbuf_addc(&b, '.');
	sbuf_add(&b, name.p, name.len);
	return b.failed ? -1 : var_name_parse((struct str){ b.p, b.len }, out, why);
}

/* --- the end --- */

static void
free_spoe_names(struct spoe_name **chain)
{
	while (*chain) {
		struct spoe_name *n = *chain;

		*chain = n->next;
		mem_free(n->text);
		mem_free(n);
	}
}

static void
free_message(struct spoe_message *m)
{
	list_remove(&m->link);
	while (m->args) {
		struct spoe_arg *a = m->args;

		m->args = a->next;
		rule_expr_free(&a->expr);
		mem_free(a->name);
		mem_free(a);
	}
	rule_cond_free(&m->cond);
	rule_acls_fini(&m->acls);
	mem_free(m->name);
	mem_free(m);
}

static void
free_spoe_group(struct spoe_group *g)
{
	list_remove(&g->link);
	free_spoe_names(&g->messages);
	mem_free(g->name);
	mem_free(g);
}

void
spoe_conf_free(struct filter_conf *conf)
{
	struct spoe_conf *c = (struct spoe_conf *)conf;

	list_each_safe(it, &c->messages)
		free_message(list_entry(it, struct spoe_message, link));
	list_each_safe(it, &c->groups)
		free_spoe_group(list_entry(it, struct spoe_group, link));
	free_spoe_names(&c->listed_messages);
	free_spoe_names(&c->listed_groups);
	for (size_t i = 0; i < SPOE_VARS; i++)
		mem_free(c->var[i].name);
	mem_free(c->agent);
	mem_free(c->prefix);
	mem_free(c->be_name);
	mem_free(c);
}
