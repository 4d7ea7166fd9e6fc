/* Settings of the statistics page. Main thread while the configuration is read; only read after
 * that, by all workers. */
#include "proxy/model/stats_conf.h"

#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "rule/match/cond.h"
#include "rule/match/userlist.h"

struct stats_conf *
stats_conf_new(void)
{
	struct stats_conf *c = mem_zalloc(sizeof(*c));

	if (!c)
		return NULL;
	list_init(&c->users);
	list_init(&c->scopes);
	list_init(&c->admin_rules);
	return c;
}

static void
free_stats_user(struct stats_user *u)
{
	if (u->password)
		explicit_bzero(u->password, strlen(u->password));
	list_remove(&u->link);
	mem_free(u->password);
	mem_free(u->name);
	mem_free(u);
}

void
stats_conf_free(struct stats_conf **cp)
{
	struct stats_conf *c = *cp;

	if (!c)
		return;
	*cp = NULL;
	list_each_safe(it, &c->users) {
		free_stats_user(list_entry(it, struct stats_user, link));
	}
	list_each_safe(it, &c->scopes) {
		struct stats_scope *sc = list_entry(it, struct stats_scope, link);

		mem_free(sc->name);
		mem_free(sc);
	}
	list_each_safe(it, &c->admin_rules) {
		struct stats_admin_rule *r = list_entry(it, struct stats_admin_rule, link);

		rule_cond_free(&r->cond);
		mem_free(r);
	}
	mem_free(c->uri);
	mem_free(c->realm);
	mem_free(c->node);
	mem_free(c->desc);
	mem_free(c);
}

int
stats_conf_add_user(struct stats_conf *c, struct str name, const char *password)
{
	struct stats_user *u = mem_zalloc(sizeof(*u));

	if (!u)
		return -ERR_NOMEM;
	list_append(&c->users, &u->link);
	u->name = mem_strndup(name.p, name.len);
	u->password = mem_strdup(password);
	return u->name && u->password ? 0 : -ERR_NOMEM;
}

int
stats_conf_add_scope(struct stats_conf *c, const char *name)
{
	struct stats_scope *sc = mem_zalloc(sizeof(*sc));

	if (!sc)
		return -ERR_NOMEM;
	list_append(&c->scopes, &sc->link);
	sc->name = mem_strdup(name);
	return sc->name ? 0 : -ERR_NOMEM;
}

static int
copy_lists(struct stats_conf *c, const struct stats_conf *from)
{
	list_each(it, &from->users) {
		const struct stats_user *u = list_entry(it, const struct stats_user, link);

		if (stats_conf_add_user(c, str_of(u->name), u->password) < 0)
			return -ERR_NOMEM;
	}
	list_each(it, &from->scopes) {
		if (stats_conf_add_scope(
			    c, list_entry(it, const struct stats_scope, link)->name) < 0)
			return -ERR_NOMEM;
	}
	return 0;
}

struct stats_conf *
stats_conf_copy(const struct stats_conf *defaults)
{
	struct stats_conf *c = stats_conf_new();

	if (!c)
		return NULL;
	c->refresh_s = defaults->refresh_s;
	c->flags = defaults->flags;
	if (mem_copy_string(&c->uri, defaults->uri) < 0 ||
		mem_copy_string(&c->realm, defaults->realm) < 0 ||
		mem_copy_string(&c->node, defaults->node) < 0 ||
		mem_copy_string(&c->desc, defaults->desc) < 0 || copy_lists(c, defaults) < 0)
		stats_conf_free(&c);
	return c;
}

int
stats_conf_shows(const struct stats_conf *c, const char *own, const char *proxy)
{
	if (list_is_empty(&c->scopes))
		return 1;
	list_each(it, &c->scopes) {
		const char *name = list_entry(it, const struct stats_scope, link)->name;

		if (strcmp(strcmp(name, ".") == 0 ? own : name, proxy) == 0)
			return 1;
	}
	return 0;
}

/* All users are compared, whichever matches. */
int
stats_conf_admits(const struct stats_conf *c, struct str name, struct str password)
{
	int found = 0;

	list_each(it, &c->users) {
		const struct stats_user *u = list_entry(it, const struct stats_user, link);

		found |= password_is_text(name, str_of(u->name)) &
			password_is_text(password, str_of(u->password));
	}
	return found;
}
