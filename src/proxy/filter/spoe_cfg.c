/* The keyword `filter spoe` and the file that it names. Main thread, while the configuration is
 * read. */
#include "proxy/filter/spoe.h"

#include <string.h>

#include "base/mem.h"
#include "base/sbuf.h"
#include "cfg/reader.h"
#include "proxy/filter/spoe_conf.h"
#include "proxy/model/proxies.h"
#include "rule/action/place.h"
#include "spop/spop.h"

#define SPOE_FILE_MAX (1u << 20)
#define SPOE_ARGS_MAX 255u
#define SPOE_WAITING_MAX 10000

/* The root while the file is read. */
struct spoe_reading {
	struct proxies *ps;
	struct spoe_conf *c;
};

static struct spoe_conf *
conf_read(const struct cfg_ctx *ctx)
{
	return ((const struct spoe_reading *)ctx->root)->c;
}

static const struct rule_vocab *
vocab_read(const struct cfg_ctx *ctx)
{
	return &((const struct spoe_reading *)ctx->root)->ps->vocab;
}

/* --- names --- */

static struct spoe_message *
find_spoe_message(const struct spoe_conf *c, const char *name)
{
	list_each(it, &c->messages) {
		struct spoe_message *m = list_entry(it, struct spoe_message, link);

		if (strcmp(m->name, name) == 0)
			return m;
	}
	return NULL;
}

static struct spoe_group *
find_spoe_group(const struct spoe_conf *c, const char *name)
{
	list_each(it, &c->groups) {
		struct spoe_group *g = list_entry(it, struct spoe_group, link);

		if (strcmp(g->name, name) == 0)
			return g;
	}
	return NULL;
}

static int
is_var_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		c == '.' || c == '_';
}

static int
is_var_part(const char *text)
{
	const char *p = text;

	while (is_var_letter(*p))
		p++;
	return p > text && !*p;
}

static int
append_name(struct spoe_name **chain, struct cfg_ctx *ctx, int arg)
{
	struct spoe_name *n = mem_zalloc(sizeof(*n));

	if (!n)
		return cfg_nomem(ctx);
	n->where = cfg_arg_where(ctx, arg);
	n->text = mem_strdup(cfg_arg(ctx, arg));
	if (!n->text) {
		mem_free(n);
		return cfg_nomem(ctx);
	}
	while (*chain)
		chain = &(*chain)->next;
	*chain = n;
	return 0;
}

/* Appends the arguments; none may be there already. */
static int
append_names(struct spoe_name **chain, struct cfg_ctx *ctx)
{
	for (int i = 0; i < ctx->argc; i++) {
		for (const struct spoe_name *n = *chain; n; n = n->next)
			if (strcmp(n->text, cfg_arg(ctx, i)) == 0)
				return cfg_error(ctx, i, "'%s' : '%.100s' is there already.",
					cfg_kw_name(ctx), n->text);
		if (append_name(chain, ctx, i) < 0)
			return -1;
	}
	return 0;
}

/* --- spoe-agent --- */

static int
begin_spoe_agent(struct cfg_ctx *ctx)
{
	struct spoe_conf *c = conf_read(ctx);

	if (c->agent)
		return cfg_error(ctx, 0, "'spoe-agent' : there is one already, '%.100s'; an engine "
			"has one agent.", c->agent);
	c->agent_where = cfg_arg_where(ctx, 0);
	ctx->obj = c;
	return cfg_arg_dup(ctx, 0, &c->agent);
}

static int
end_spoe_agent(struct cfg_ctx *ctx)
{
	struct spoe_conf *c = conf_read(ctx);

	if (!c->be_name && !cfg_section_errors(ctx))
		cfg_diag_add(ctx->diag, CFG_ALERT, &c->agent_where,
			"'spoe-agent %.100s' : 'use-backend' is missing.", c->agent);
	if (!c->processing_ms)
		cfg_diag_add(ctx->diag, CFG_WARNING, &c->agent_where,
			"'spoe-agent %.100s' : 'timeout processing' is missing: a client waits as "
			"long as the agent does not answer.", c->agent);
	if (!c->prefix && !is_var_part(c->agent))
		cfg_diag_add(ctx->diag, CFG_ALERT, &c->agent_where,
			"'spoe-agent %.100s' : the name cannot be the prefix of variables, which "
			"is made of letters, digits, '.' and '_': add 'option var-prefix'.",
			c->agent);
	return 0;
}

static int
parse_listed_messages(struct cfg_ctx *ctx)
{
	return append_names(&conf_read(ctx)->listed_messages, ctx);
}

static int
parse_listed_groups(struct cfg_ctx *ctx)
{
	return append_names(&conf_read(ctx)->listed_groups, ctx);
}

/* The keyword's arg is the flag: of an option that is on by default, the one that says it is
 * not. */
static int
parse_agent_flag(struct cfg_ctx *ctx)
{
	unsigned int flag = (unsigned int)ctx->kw->arg;
	int is_negative = (flag & (SPOE_NO_ASYNC | SPOE_NO_PIPELINING)) != 0;
	struct spoe_conf *c = conf_read(ctx);

	if (ctx->form == CFG_FORM_DEFAULT || (ctx->form == CFG_FORM_SET) == is_negative)
		c->flags &= ~flag;
	else
		c->flags |= flag;
	return 0;
}

static int
parse_var_prefix(struct cfg_ctx *ctx)
{
	if (!is_var_part(cfg_arg(ctx, 0)))
		return cfg_error(ctx, 0, "'%s' : a prefix is made of letters, digits, '.' and '_'.",
			cfg_kw_name(ctx));
	return cfg_arg_dup(ctx, 0, &conf_read(ctx)->prefix);
}

/* The keyword's arg is the use. */
static int
parse_agent_var(struct cfg_ctx *ctx)
{
	struct spoe_var *v = &conf_read(ctx)->var[ctx->kw->arg];

	if (!is_var_part(cfg_arg(ctx, 0)))
		return cfg_error(ctx, 0,
			"'%s' : a variable's name is made of letters, digits, '.' and '_', and "
			"stands without its scope.",
			cfg_kw_name(ctx));
	v->is_set = 1;
	return cfg_arg_dup(ctx, 0, &v->name);
}

static int
parse_register_names(struct cfg_ctx *ctx)
{
	for (int i = 0; i < ctx->argc; i++)
		if (!is_var_part(cfg_arg(ctx, i)))
			return cfg_error(ctx, i, "'%s' : a variable's name is made of letters, "
				"digits, '.' and '_', and stands without its scope.",
				cfg_kw_name(ctx));
	return 0;
}

enum { TIMEOUT_HELLO, TIMEOUT_IDLE, TIMEOUT_PROCESSING };

static int
parse_agent_timeout(struct cfg_ctx *ctx)
{
	struct spoe_conf *c = conf_read(ctx);
	uint32_t *const to[] = { &c->hello_ms, &c->idle_ms, &c->processing_ms };

	return cfg_arg_timeout(ctx, 0, to[ctx->kw->arg]);
}

enum { MAX_CONN_RATE, MAX_ERR_RATE, MAX_WAITING };

static int
parse_agent_max(struct cfg_ctx *ctx)
{
	struct spoe_conf *c = conf_read(ctx);
	int *const to[] = { &c->max_conn_rate, &c->max_err_rate, &c->max_waiting };
	int least = ctx->kw->arg == MAX_WAITING;

	return cfg_arg_int(ctx, 0, least, least ? SPOE_WAITING_MAX : INT32_MAX, to[ctx->kw->arg]);
}

static int
parse_max_frame(struct cfg_ctx *ctx)
{
	uint64_t n = 0;

	if (cfg_arg_size(ctx, 0, SPOP_FRAME_MIN, 1u << 28, &n) < 0)
		return -1;
	conf_read(ctx)->max_frame = (uint32_t)n;
	conf_read(ctx)->max_frame_where = cfg_arg_where(ctx, 0);
	return 0;
}

static int
parse_agent_backend(struct cfg_ctx *ctx)
{
	struct spoe_conf *c = conf_read(ctx);

	c->be_where = cfg_arg_where(ctx, 0);
	return cfg_arg_dup(ctx, 0, &c->be_name);
}

static int
parse_agent_log(struct cfg_ctx *ctx)
{
	struct spoe_conf *c = conf_read(ctx);

	if (ctx->form == CFG_FORM_NO) {
		c->flags &= ~SPOE_LOGS;
		return 0;
	}
	if (ctx->argc != 1 || strcmp(cfg_arg(ctx, 0), "global") != 0)
		return cfg_error(ctx, 0,
			"'log' : targets of an agent are not supported; use 'log global' for those "
			"of the section global.");
	c->flags |= SPOE_LOGS;
	return 0;
}

/* --- spoe-message --- */

static int
begin_spoe_message(struct cfg_ctx *ctx)
{
	struct spoe_conf *c = conf_read(ctx);
	struct spoe_message *m;

	if (find_spoe_message(c, ctx->name))
		return cfg_error(ctx, 0, "'spoe-message %.100s' exists already.", ctx->name);
	m = mem_zalloc(sizeof(*m));
	if (m)
		m->name = mem_strdup(ctx->name);
	if (!m || !m->name) {
		mem_free(m);
		return cfg_nomem(ctx);
	}
	rule_acls_init(&m->acls);
	list_append(&c->messages, &m->link);
	m->event = SPOE_EVENTS;
	m->where = cfg_arg_where(ctx, 0);
	ctx->obj = m;
	return 0;
}

static int
parse_message_acl(struct cfg_ctx *ctx)
{
	struct spoe_message *m = ctx->obj;

	return rule_acl_parse(&m->acls, vocab_read(ctx), ctx);
}

/* Returns the places where a message may be sent. Its event, or the rule that sends it, knows what
 * is available there. */
static unsigned int
scopes_of_messages(void)
{
	return rule_place_scope(RULE_TCP_REQ_CONTENT) | rule_place_scope(RULE_HTTP_REQUEST) |
		rule_place_scope(RULE_HTTP_RESPONSE) | SAMPLE_AT_BACK;
}

/* The length of the name in front of '=' in "name=expression"; 0: there is none. */
static size_t
arg_name_len(const char *text)
{
	size_t n = 0;

	while (is_var_letter(text[n]) || text[n] == '-')
		n++;
	return text[n] == '=' ? n : 0;
}

static int
parse_arg(struct cfg_ctx *ctx, int i, struct spoe_arg *a)
{
	const char *text = cfg_arg(ctx, i), *expr;
	size_t n = arg_name_len(text), used;
	struct rule_err why;

	a->where = cfg_arg_where(ctx, i);
	a->name = mem_strndup(text, n);
	if (!a->name)
		return cfg_nomem(ctx);
	expr = text + n + (n > 0);
	if (rule_expr_parse(vocab_read(ctx), expr, strlen(expr), scopes_of_messages(), 0, &a->expr,
		    &used, &why) == 0)
		return 0;
	a->where.col += (unsigned int)((size_t)(expr - text) + why.at);
	cfg_diag_add(ctx->diag, CFG_ALERT, &a->where, "'args' : %s.", why.text);
	return -1;
}

static int
parse_message_args(struct cfg_ctx *ctx)
{
	struct spoe_message *m = ctx->obj;
	struct spoe_arg **end = &m->args;

	while (*end)
		end = &(*end)->next;
	for (int i = 0; i < ctx->argc; i++) {
		struct spoe_arg *a;

		if (m->n_args == SPOE_ARGS_MAX)
			return cfg_error(ctx, i, "'args' : a message has at most %u of them.",
				SPOE_ARGS_MAX);
		a = mem_zalloc(sizeof(*a));
		if (!a)
			return cfg_nomem(ctx);
		*end = a;
		end = &a->next;
		m->n_args++;
		if (parse_arg(ctx, i, a) < 0)
			return -1;
	}
	return 0;
}

static int
parse_event(struct cfg_ctx *ctx)
{
	struct spoe_message *m = ctx->obj;
	int found;

	if (cfg_arg_enum(ctx, 0, spoe_event_words, &found) < 0)
		return -1;
	rule_cond_free(&m->cond);
	m->event = (enum spoe_event)found;
	m->where = cfg_arg_where(ctx, 0);
	if (ctx->argc == 1)
		return 0;
	return rule_cond_parse(&m->acls, vocab_read(ctx), ctx, 1, scopes_of_messages(), &m->cond);
}

/* --- spoe-group --- */

static int
begin_spoe_group(struct cfg_ctx *ctx)
{
	struct spoe_conf *c = conf_read(ctx);
	struct spoe_group *g;

	if (find_spoe_group(c, ctx->name))
		return cfg_error(ctx, 0, "'spoe-group %.100s' exists already.", ctx->name);
	g = mem_zalloc(sizeof(*g));
	if (g)
		g->name = mem_strdup(ctx->name);
	if (!g || !g->name) {
		mem_free(g);
		return cfg_nomem(ctx);
	}
	list_append(&c->groups, &g->link);
	g->where = cfg_arg_where(ctx, 0);
	ctx->obj = g;
	return 0;
}

static int
parse_group_messages(struct cfg_ctx *ctx)
{
	struct spoe_group *g = ctx->obj;

	return append_names(&g->messages, ctx);
}

#define FLAG(n, flag) \
	{ .name = n, .sections = CFG_SPOE_AGENT, .flags = CFG_KW_NO, .parse = parse_agent_flag, \
		.arg = flag }
#define VAR(n, use) \
	{ .name = n, .sections = CFG_SPOE_AGENT, .min = 1, .max = 1, .parse = parse_agent_var, \
		.arg = use, .syntax = "<name>", .once = n }
#define TIMEOUT(n, which) \
	{ .name = n, .sections = CFG_SPOE_AGENT, .min = 1, .max = 1, \
		.parse = parse_agent_timeout, .arg = which, .syntax = "<time>", .once = n }
#define MOST(n, which) \
	{ .name = n, .sections = CFG_SPOE_AGENT, .min = 1, .max = 1, .parse = parse_agent_max, \
		.arg = which, .syntax = "<number>", .once = n }
#define WORDS(n, in, fn, text) \
	{ .name = n, .sections = in, .min = 1, .max = CFG_ANY, .parse = fn, .syntax = text }

static const struct cfg_kw spoe_kws[] = {
	WORDS("acl", CFG_SPOE_MESSAGE, parse_message_acl, "<name> <criterion> [<value>...]"),
	WORDS("args", CFG_SPOE_MESSAGE, parse_message_args, "[<name>=]<expr>..."),
	WORDS("event", CFG_SPOE_MESSAGE, parse_event, "<name> [{if | unless} <condition>]"),
	WORDS("groups", CFG_SPOE_AGENT, parse_listed_groups, "<group>..."),
	{ .name = "log", .sections = CFG_SPOE_AGENT, .flags = CFG_KW_NO, .max = CFG_ANY,
		.parse = parse_agent_log, .syntax = "global" },
	{ .name = "max-frame-size", .sections = CFG_SPOE_AGENT, .min = 1, .max = 1,
		.parse = parse_max_frame, .syntax = "<size>", .once = "max-frame-size" },
	MOST("max-waiting-frames", MAX_WAITING),
	MOST("maxconnrate", MAX_CONN_RATE),
	MOST("maxerrrate", MAX_ERR_RATE),
	WORDS("messages", CFG_SPOE_AGENT, parse_listed_messages, "<message>..."),
	WORDS("messages", CFG_SPOE_GROUP, parse_group_messages, "<message>..."),
	FLAG("option async", SPOE_NO_ASYNC),
	FLAG("option continue-on-error", SPOE_CONTINUE_ON_ERROR),
	FLAG("option dontlog-normal", SPOE_DONTLOG_NORMAL),
	FLAG("option force-set-var", SPOE_FORCE_SET_VAR),
	FLAG("option pipelining", SPOE_NO_PIPELINING),
	{ .name = "option send-frag-payload", .sections = CFG_SPOE_AGENT, .flags = CFG_KW_NO,
		.class = CFG_HINT,
		.doc = "messages that are longer than a frame are not sent, as in HAProxy 3.1." },
	VAR("option set-on-error", SPOE_VAR_ERROR),
	VAR("option set-process-time", SPOE_VAR_PROCESS),
	VAR("option set-total-time", SPOE_VAR_TOTAL),
	{ .name = "option var-prefix", .sections = CFG_SPOE_AGENT, .min = 1, .max = 1,
		.parse = parse_var_prefix, .syntax = "<prefix>", .once = "option var-prefix" },
	WORDS("register-var-names", CFG_SPOE_AGENT, parse_register_names, "<name>..."),
	TIMEOUT("timeout hello", TIMEOUT_HELLO),
	TIMEOUT("timeout idle", TIMEOUT_IDLE),
	TIMEOUT("timeout processing", TIMEOUT_PROCESSING),
	{ .name = "use-backend", .sections = CFG_SPOE_AGENT, .min = 1, .max = 1,
		.parse = parse_agent_backend, .syntax = "<backend>", .once = "use-backend" },
	{ 0 },
};

static const struct cfg_section spoe_sections[] = {
	{ .name = "spoe-agent", .bit = CFG_SPOE_AGENT, .flags = CFG_SEC_NAMED,
		.begin = begin_spoe_agent, .end = end_spoe_agent },
	{ .name = "spoe-message", .bit = CFG_SPOE_MESSAGE, .flags = CFG_SEC_NAMED,
		.begin = begin_spoe_message },
	{ .name = "spoe-group", .bit = CFG_SPOE_GROUP, .flags = CFG_SEC_NAMED,
		.begin = begin_spoe_group },
	{ 0 },
};

static const struct cfg_module spoe_file_module = {
	.name = "spoe-file",
	.kws = spoe_kws,
	.sections = spoe_sections,
};

/* --- all sections are read --- */

/* Finds the messages of a list. */
static int
find_messages(const struct spoe_conf *c, struct spoe_name *names, const char *what,
	struct cfg_diag *d)
{
	int rc = 0;

	for (struct spoe_name *n = names; n; n = n->next) {
		n->message = find_spoe_message(c, n->text);
		if (n->message)
			continue;
		cfg_diag_add(d, CFG_ALERT, &n->where,
			"'%s' : there is no 'spoe-message %.100s' in this engine.", what, n->text);
		rc = -1;
	}
	return rc;
}

/* A message is sent on its event, or by at most one group. */
static int
claim_messages(struct spoe_name *names, struct cfg_diag *d)
{
	int rc = 0;

	for (struct spoe_name *n = names; n; n = n->next) {
		if (!n->message)
			continue;
		if (n->message->is_listed) {
			cfg_diag_add(d, CFG_ALERT, &n->where,
				"'messages' : message '%.100s' is in another list already.",
				n->text);
			rc = -1;
		}
		n->message->is_listed = 1;
	}
	return rc;
}

static int
link_groups(struct spoe_conf *c, struct cfg_diag *d)
{
	int rc = 0;

	for (struct spoe_name *n = c->listed_groups; n; n = n->next) {
		struct spoe_group *g = find_spoe_group(c, n->text);

		if (!g) {
			cfg_diag_add(d, CFG_ALERT, &n->where,
				"'groups' : there is no 'spoe-group %.100s' in this engine.",
				n->text);
			rc = -1;
			continue;
		}
		g->is_listed = 1;
		if (find_messages(c, g->messages, "messages", d) < 0 ||
			claim_messages(g->messages, d) < 0)
			rc = -1;
	}
	return rc;
}

/* A message that the agent sends by itself needs an event. */
static int
check_events(const struct spoe_conf *c, struct cfg_diag *d)
{
	int rc = 0;

	for (const struct spoe_name *n = c->listed_messages; n; n = n->next) {
		if (!n->message || n->message->event != SPOE_EVENTS)
			continue;
		cfg_diag_add(d, CFG_ALERT, &n->where,
			"'messages' : message '%.100s' has no 'event'; one of a group is listed by "
			"its group only.", n->text);
		rc = -1;
	}
	return rc;
}

/* The names of the variables that options set. */
static int
name_variables(struct spoe_conf *c, struct cfg_diag *d)
{
	for (size_t i = 0; i < SPOE_VARS; i++) {
		struct spoe_var *v = &c->var[i];
		const char *why;

		if (!v->is_set ||
			spoe_var_name("txn", c->prefix, str_of(v->name), &v->var, &why) == 0)
			continue;
		cfg_diag_add(d, CFG_ALERT, &c->agent_where,
			"'spoe-agent %.100s' : variable '%.100s': %s.", c->agent, v->name, why);
		return -1;
	}
	return 0;
}

static int
link_spoe_conf(struct spoe_conf *c, struct cfg_diag *d)
{
	int rc = find_messages(c, c->listed_messages, "messages", d);

	if (claim_messages(c->listed_messages, d) < 0 || link_groups(c, d) < 0 ||
		check_events(c, d) < 0)
		rc = -1;
	return rc < 0 ? rc : name_variables(c, d);
}

/* --- the file --- */

/* The name in "[name]"; p NULL: the line is no scope. */
static struct str
scope_of_line(const char *line, size_t len)
{
	struct str s = str_trim((struct str){ line, len });
	const char *end;

	if (!s.len || *s.p != '[')
		return (struct str){ NULL, 0 };
	end = memchr(s.p, ']', s.len);
	return (struct str){ s.p + 1, end ? (size_t)(end - s.p) - 1 : 0 };
}

/* Reports a line "[name" of the file. 0, or -1 after an error. */
static int
check_scopes(struct cfg_ctx *ctx, const char *path, const char *text, size_t len)
{
	struct cfg_where at = { .line = 1, .col = 1 };

	for (const char *p = text, *end = text + len, *nl; p < end;
		p = nl + (nl < end), at.line++) {
		struct str scope;

		nl = memchr(p, '\n', (size_t)(end - p));
		nl = nl ? nl : end;
		scope = scope_of_line(p, (size_t)(nl - p));
		if (!scope.p || scope.len)
			continue;
		at.file = cfg_diag_file(ctx->diag, path, text, len);
		cfg_diag_add(ctx->diag, CFG_ALERT, &at,
			"'filter spoe' : a scope is a name in brackets, '[name]'.");
		return -1;
	}
	return 0;
}

/* Leaves the lines of the engine's scopes in the text, and blanks for all others. The number of
 * these scopes; without a name, of all scopes. */
static unsigned int
keep_scope(char *text, size_t len, const char *engine)
{
	unsigned int n = 0;
	int is_ours = !engine;

	for (char *p = text, *end = text + len; p < end;) {
		char *nl = memchr(p, '\n', (size_t)(end - p));
		size_t line = (size_t)((nl ? nl : end) - p);
		struct str scope = scope_of_line(p, line);

		if (scope.p) {
			is_ours = engine && str_is(scope, str_of(engine));
			n += !engine || is_ours;
		}
		if (scope.p || !is_ours)
			memset(p, ' ', line);
		p += line + (nl != NULL);
	}
	return n;
}

/* 0, or -1 after errors, which are those of the file's lines. */
static int
read_sections(struct cfg_ctx *ctx, struct spoe_conf *c, const char *path, const char *text,
	size_t len)
{
	static const struct cfg_facts facts;
	struct spoe_reading reading = { .ps = ctx->root, .c = c };
	struct cfg_registry registry;
	const struct cfg_reader_opts opts = { .root = &reading, .registry = &registry,
		.diag = ctx->diag, .env = ctx->env, .sys = ctx->sys, .facts = &facts };
	struct cfg_where at = ctx->diag->at;
	struct cfg_reader r;
	int rc;

	cfg_registry_init(&registry);
	rc = cfg_registry_add(&registry, &spoe_file_module) < 0 ? cfg_nomem(ctx) : 0;
	if (rc == 0) {
		cfg_reader_init(&r, &opts);
		rc = cfg_reader_text(&r, path, text, len);
		cfg_reader_fini(&r);
	}
	cfg_registry_fini(&registry);
	ctx->diag->at = at;
	return rc;
}

static int
read_spoe_text(struct cfg_ctx *ctx, struct spoe_conf *c, const char *path, char *text, size_t len)
{
	unsigned int n;

	if (check_scopes(ctx, path, text, len) < 0)
		return -1;
	n = keep_scope(text, len, c->conf.name);
	if (c->conf.name && !n)
		return cfg_error(ctx, 1, "'filter spoe' : there is no scope [%.60s] in '%s'.",
			c->conf.name, path);
	if (!c->conf.name && n)
		return cfg_error(ctx, 0, "'filter spoe' : '%s' has scopes in brackets: say which "
			"with 'engine <name>'.", path);
	if (read_sections(ctx, c, path, text, len) < 0)
		return -1;
	if (!c->agent)
		return cfg_error(ctx, 0, "'filter spoe' : there is no 'spoe-agent' in '%s'.", path);
	if (!c->prefix)
		c->prefix = mem_strdup(c->agent);
	if (!c->conf.name)
		c->conf.name = mem_strdup(c->agent);
	return c->prefix && c->conf.name ? link_spoe_conf(c, ctx->diag) : cfg_nomem(ctx);
}

/* True if p has an engine of this name before c. */
static int
has_engine(const struct proxy *p, const struct spoe_conf *c)
{
	return filter_conf_find(p->filters, &spoe_kind, c->conf.name) != &c->conf;
}

static struct spoe_conf *
new_spoe_conf(struct cfg_ctx *ctx)
{
	struct spoe_conf *c = mem_zalloc(sizeof(*c));
	struct proxy *p = ctx->obj;

	if (!c)
		return NULL;
	c->conf.kind = &spoe_kind;
	c->conf.word = "spoe";
	c->conf.sides = 1u << CLIENT | 1u << SERVER;
	c->where = cfg_arg_where(ctx, -1);
	c->max_waiting = 20;
	list_init(&c->messages);
	list_init(&c->groups);
	filter_conf_add(&p->filters, &c->conf);
	return c;
}

/* filter spoe [engine <name>] config <file> */
static int
parse_filter_spoe(struct cfg_ctx *ctx)
{
	int has_name = ctx->argc > 0 && strcmp(cfg_arg(ctx, 0), "engine") == 0;
	int at = has_name ? 2 : 0, rc;
	struct spoe_conf *c;
	char *text;
	size_t len;

	if (ctx->argc != at + 2 || strcmp(cfg_arg(ctx, at), "config") != 0)
		return cfg_error(ctx, at, "'filter spoe' expects %s.", ctx->kw->syntax);
	c = new_spoe_conf(ctx);
	if (!c)
		return cfg_nomem(ctx);
	if (has_name && cfg_arg_dup(ctx, 1, &c->conf.name) < 0)
		return -1;
	if (cfg_arg_file(ctx, at + 1, SPOE_FILE_MAX, &text, &len) < 0)
		return -1;
	rc = read_spoe_text(ctx, c, cfg_arg(ctx, at + 1), text, len);
	mem_free(text);
	if (rc == 0 && has_engine(ctx->obj, c))
		return cfg_error(ctx, at, "'filter spoe' : this section has an engine '%.60s' "
			"already.", c->conf.name);
	return rc;
}

static const struct cfg_kw kws[] = {
	{ .name = "filter spoe", .sections = CFG_FRONTEND | CFG_LISTEN | CFG_BACKEND, .min = 2,
		.max = CFG_ANY, .parse = parse_filter_spoe,
		.syntax = "[engine <name>] config <file>",
		.doc = "Sends what requests and responses have to an agent, which sets variables "
		       "for the rules behind it: a web application firewall, say. The file has "
		       "the sections spoe-agent, spoe-message and spoe-group; with an engine, in "
		       "the lines behind its name in brackets. See SPOE in this manual.",
		.dflt = "none" },
	{ 0 },
};

const struct cfg_module spoe_cfg_module = {
	.name = "spoe",
	.kws = kws,
};
