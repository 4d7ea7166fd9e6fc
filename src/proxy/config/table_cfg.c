/* Keyword stick-table: the table of a proxy, which has the proxy's name. Main thread, while the
 * configuration is read. */
#include "proxy/config/table_cfg.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"
#include "cfg/ctx.h"
#include "proxy/model/proxies.h"
#include "table/table.h"

#define BRATES_FACTOR_MAX 1024
/* Longest word of `store`. */
#define DATA_WORD_MAX 64
#define TABLE_NAME_MAX 512

/* A line while it is parsed. */
struct table_line {
	struct table_conf conf;
	int has_type;
	int peers;              /* an argument; 0: none */
};

/* Reports an error of a word of argument i, at byte `at` of it. Always -1. */
static int
report_table_data(
	struct cfg_ctx *ctx, int i, size_t at, const char *why, const char *name, size_t len)
{
	struct cfg_where where = cfg_arg_where(ctx, i);

	where.col += (unsigned int)at;
	cfg_diag_add(ctx->diag, CFG_ALERT, &where, "'stick-table' : %s '%.*s'.", why, (int)len,
		name);
	return -1;
}

/* --- store --- */

/* One word: its place in the argument, its name, and the arguments in parentheses. */
struct data_word {
	int i;
	size_t at;
	const char *name;
	size_t len;
	char arg[2][DATA_WORD_MAX];
	unsigned int n_args;
};

static int
report_word(struct cfg_ctx *ctx, const struct data_word *w, const char *why)
{
	return report_table_data(ctx, w->i, w->at, why, w->name, w->len);
}

/* Copies "3,10s" into the arguments of the word. 0 or -1. */
static int
split_args(struct data_word *w, const char *p, size_t n)
{
	for (const char *end = p + n; p < end;) {
		size_t len = strcspn(p, ",)");

		if (w->n_args == ARRAY_LEN(w->arg) || len >= DATA_WORD_MAX)
			return -1;
		memcpy(w->arg[w->n_args], p, len);
		w->arg[w->n_args++][len] = '\0';
		p += len + 1;
	}
	return 0;
}

/* Arrays, and a type that each takes the place of. */
static const struct {
	enum table_data array, one;
} excluded[] = {
	{ TABLE_GPC, TABLE_GPC0 },
	{ TABLE_GPC, TABLE_GPC1 },
	{ TABLE_GPC_RATE, TABLE_GPC0_RATE },
	{ TABLE_GPC_RATE, TABLE_GPC1_RATE },
	{ TABLE_GPT, TABLE_GPT0 },
};

/* A table stores an array, or counters with numbers. 0 or -1. */
static int
check_excluded(struct cfg_ctx *ctx, const struct table_conf *conf, const struct data_word *w)
{
	for (unsigned int i = 0; i < ARRAY_LEN(excluded); i++) {
		enum table_data array = excluded[i].array, one = excluded[i].one;
		char why[DATA_WORD_MAX * 2];

		if (!conf->store[array].n || !conf->store[one].n)
			continue;
		(void)snprintf(why, sizeof(why), "'%s' and '%s' exclude each other: store option",
			table_data_info[array].name, table_data_info[one].name);
		return report_word(ctx, w, why);
	}
	return 0;
}

/* The elements of an array and the period of a rate. 0 or -1. */
static int
parse_data_args(struct cfg_ctx *ctx, const struct data_word *w, const struct table_data_info *info,
	struct table_store *s)
{
	int is_array = (info->flags & TABLE_ARRAY) != 0, is_rate = info->kind == TABLE_KIND_RATE;
	int64_t n = 1;
	uint64_t ms = 0;

	if (w->n_args > (unsigned int)(is_array + is_rate))
		return report_word(ctx, w, "unexpected argument to store option");
	if (w->n_args < (unsigned int)(is_array + is_rate))
		return report_word(ctx, w, "missing argument to store option");
	if (is_array && cfg_value_int(w->arg[0], 1, TABLE_ELEMENTS_MAX, &n, NULL) < 0)
		return report_word(ctx, w,
			"array size is out of allowed range (1-100) for store option");
	if (is_rate && cfg_value_time(w->arg[is_array], CFG_UNIT_MS, 1, CFG_TIME_MAX_MS, &ms,
			       NULL) < 0)
		return report_word(ctx, w, "a period from 1 to 2147483647 ms is missing in store "
					   "option");
	s->n = (uint16_t)n;
	s->period_ms = (uint32_t)ms;
	return 0;
}

/* The arguments of data in parentheses, by kind and flags. */
#define ARGS_U32_0 ""
#define ARGS_U64_0 ""
#define ARGS_NAME_0 ""
#define ARGS_RATE_0 "(<period>)"
#define ARGS_U32_TABLE_ARRAY "(<n>)"
#define ARGS_RATE_TABLE_ARRAY "(<n>,<period>)"

static const struct cfg_enum data_words[] = {
#define TABLE_DATA(id, name, kind, flags, doc) { name ARGS_##kind##_##flags, TABLE_##id, doc },
#include "table/data.tbl.h"
#undef TABLE_DATA
	{ "server_name", TABLE_SERVER_KEY, "Another name of server_key." },
	{ 0 },
};

static int
store_word(struct cfg_ctx *ctx, struct table_line *line, const struct data_word *w, int has_parens)
{
	const struct cfg_enum *word = cfg_enum_find(data_words, w->name, w->len);
	int type = word ? word->value : -1;

	if (!word)
		return report_word(ctx, w, "unknown store option");
	if (has_parens && !w->n_args && table_data_info[type].kind != TABLE_KIND_RATE)
		return report_word(ctx, w, "unexpected argument to store option");
	if (line->conf.store[type].n) {
		cfg_warn(ctx, w->i, "'stick-table' : store option '%s' already enabled, ignored.",
			table_data_info[type].name);
		return 0;
	}
	if (parse_data_args(ctx, w, &table_data_info[type], &line->conf.store[type]) < 0)
		return -1;
	return check_excluded(ctx, &line->conf, w);
}

/* "gpc0,conn_rate(10s)" */
static int
parse_store(struct cfg_ctx *ctx, struct table_line *line, int i)
{
	const char *text = cfg_arg(ctx, i), *p = text;

	do {
		struct data_word w = { .i = i, .at = (size_t)(p - text), .name = p,
			.len = strcspn(p, ",(") };
		int has_parens = p[w.len] == '(';

		p += w.len;
		if (has_parens) {
			size_t n = strcspn(p, ")");

			if (!p[n])
				return report_word(ctx, &w,
					"missing closing parenthesis after store option");
			if (split_args(&w, p + 1, n - 1) < 0)
				return report_word(ctx, &w, "unexpected argument to store option");
			p += n + 1;
		}
		if (*p && *p != ',')
			return report_word(ctx, &w, "unexpected text behind store option");
		if (store_word(ctx, line, &w, has_parens) < 0)
			return -1;
		p += *p == ',';
	} while (*p);
	return 0;
}

/* --- the other arguments --- */

/* Each parses the argument at i, and returns how many it took or -1. */
typedef int table_arg_fn(struct cfg_ctx *ctx, struct table_line *line, int i);

/* "ip", "string len 32" */
static int
parse_type(struct cfg_ctx *ctx, struct table_line *line, int i)
{
	static const uint32_t lengths[TABLE_TYPES] = { [TABLE_INTEGER] = 4, [TABLE_IPV4] = 4,
		[TABLE_IPV6] = 16, [TABLE_STRING] = TABLE_STRING_LEN - 1,
		[TABLE_BINARY] = TABLE_STRING_LEN };
	const char *name = cfg_arg(ctx, i);
	int type = 0, len;

	/* The name of HAProxy 3.2. */
	if (strcmp(name, "ipv4") == 0)
		name = "ip";
	while (type < TABLE_TYPES && strcmp(table_type_name((enum table_type)type), name) != 0)
		type++;
	if (type == TABLE_TYPES)
		return cfg_error(ctx, i, "'stick-table' : unknown type '%s'.", name);
	line->has_type = 1;
	line->conf.type = (enum table_type)type;
	line->conf.key_len = lengths[type];
	if ((type != TABLE_STRING && type != TABLE_BINARY) ||
		strcmp(cfg_arg(ctx, i + 1), "len") != 0)
		return 1;
	if (cfg_arg_int(ctx, i + 2, 1, TABLE_KEY_MAX, &len) < 0)
		return -1;
	line->conf.key_len = (uint32_t)len;
	return 3;
}

static int
parse_size(struct cfg_ctx *ctx, struct table_line *line, int i)
{
	struct cfg_value_err err;
	uint64_t size;

	if (cfg_value_size(cfg_arg(ctx, i), 0, UINT64_MAX, &size, &err) < 0)
		return cfg_error(ctx, i, "'stick-table' : %s.", err.text);
	if (!size || size > TABLE_SIZE_MAX)
		return cfg_error(ctx, i,
			"'stick-table' : size '%s' is out of range (1..%u entries).",
			cfg_arg(ctx, i), TABLE_SIZE_MAX);
	line->conf.size = (uint32_t)size;
	return 1;
}

static int
parse_expire(struct cfg_ctx *ctx, struct table_line *line, int i)
{
	return cfg_arg_timeout(ctx, i, &line->conf.expire_ms) < 0 ? -1 : 1;
}

static int
parse_srvkey(struct cfg_ctx *ctx, struct table_line *line, int i)
{
	static const struct cfg_enum kinds[] = {
		{ "name", 0, "The name of the server." },
		{ "addr", 1, "Its address and port." },
		{ 0 },
	};
	int by_addr;

	if (cfg_arg_enum(ctx, i, kinds, &by_addr) < 0)
		return -1;
	line->conf.key_by_addr = (uint8_t)by_addr;
	return 1;
}

static int
parse_brates_factor(struct cfg_ctx *ctx, struct table_line *line, int i)
{
	int v;

	if (cfg_arg_int(ctx, i, 1, BRATES_FACTOR_MAX, &v) < 0)
		return -1;
	line->conf.brates_factor = (uint32_t)v;
	return 1;
}

static int
parse_peers(struct cfg_ctx *ctx, struct table_line *line, int i)
{
	(void)ctx;
	line->peers = i;
	return 1;
}

static int
parse_write_to(struct cfg_ctx *ctx, struct table_line *line, int i)
{
	line->conf.write_to = cfg_arg(ctx, i);
	return 1;
}

static int
parse_nopurge(struct cfg_ctx *ctx, struct table_line *line, int i)
{
	(void)ctx;
	(void)i;
	line->conf.nopurge = 1;
	return 0;
}

static int
parse_recv_only(struct cfg_ctx *ctx, struct table_line *line, int i)
{
	(void)ctx;
	(void)i;
	line->conf.recv_only = 1;
	return 0;
}

static int
parse_aggregate(struct cfg_ctx *ctx, struct table_line *line, int i)
{
	(void)ctx;
	(void)i;
	line->conf.aggregate = 1;
	return 0;
}

static int
parse_data_list(struct cfg_ctx *ctx, struct table_line *line, int i)
{
	return parse_store(ctx, line, i) < 0 ? -1 : 1;
}

static const struct {
	const char *name;
	table_arg_fn *parse;
	int takes;              /* an argument at least */
} table_args[] = {
	{ "type", parse_type, 1 },
	{ "size", parse_size, 1 },
	{ "expire", parse_expire, 1 },
	{ "store", parse_data_list, 1 },
	{ "nopurge", parse_nopurge, 0 },
	{ "peers", parse_peers, 1 },
	{ "srvkey", parse_srvkey, 1 },
	{ "brates-factor", parse_brates_factor, 1 },
	{ "recv-only", parse_recv_only, 0 },
	{ "aggregate", parse_aggregate, 0 },
	{ "write-to", parse_write_to, 1 },
};

/* Parses the argument at i and what follows it. The number of words, or -1. */
static int
parse_table_arg(struct cfg_ctx *ctx, struct table_line *line, int i)
{
	const char *word = cfg_arg(ctx, i);
	int n;

	for (unsigned int k = 0; k < ARRAY_LEN(table_args); k++) {
		if (strcmp(table_args[k].name, word) != 0)
			continue;
		if (table_args[k].takes && i + 1 >= ctx->argc)
			return cfg_error(ctx, i, "'stick-table' : missing argument after '%s'.",
				word);
		n = table_args[k].parse(ctx, line, i + 1);
		return n < 0 ? -1 : n + 1;
	}
	return cfg_error(ctx, i, "'stick-table' : unknown argument '%s'.", word);
}

/* --- the line --- */

static int
make_table(struct cfg_ctx *ctx, const struct table_line *line)
{
	struct proxies *ps = ctx->root;
	struct proxy *p = ctx->obj;

	if (line->peers && cfg_arg_dup(ctx, line->peers, &p->table_peers) < 0)
		return -1;
	p->table_where = cfg_arg_where(ctx, line->peers ? line->peers : -1);
	p->table = table_new(p->name, &line->conf, &ps->files.key);
	if (!p->table || name_index_add(&ps->tables, p->name, p) < 0)
		return cfg_nomem(ctx);
	return 0;
}

/* Parses the arguments from `first` on. 0 or -1. */
static int
parse_table_line(struct cfg_ctx *ctx, int first, struct table_line *line)
{
	*line = (struct table_line){ .conf.brates_factor = 1 };
	for (int i = first, n; i < ctx->argc; i += n) {
		n = parse_table_arg(ctx, line, i);
		if (n < 0)
			return -1;
	}
	if (!line->conf.size)
		return cfg_error(ctx, -1, "'stick-table' : missing size.");
	if (!line->has_type)
		return cfg_error(ctx, -1, "'stick-table' : missing type.");
	return 0;
}

static int
parse_stick_table(struct cfg_ctx *ctx)
{
	struct table_line line;
	struct proxies *ps = ctx->root;
	const struct proxy *p = ctx->obj, *other = name_index_find(&ps->tables, p->name);

	if (other)
		return cfg_error(ctx, -1,
			"stick-table name '%s' conflicts with table declared in %s '%s' at %s:%u.",
			p->name, proxy_kind(other), other->name, proxy_file(other),
			other->table_where.line);
	return parse_table_line(ctx, 0, &line) < 0 ? -1 : make_table(ctx, &line);
}

/* The table of a section peers: "<section>/<name>". */
static int
parse_peers_table(struct cfg_ctx *ctx)
{
	struct proxies *ps = ctx->root;
	struct peers_conf *c = ctx->obj;
	char name[TABLE_NAME_MAX];
	struct table_line line;
	struct peers_table *t;

	if ((size_t)snprintf(name, sizeof(name), "%s/%s", c->name, cfg_arg(ctx, 0)) >= sizeof(name))
		return cfg_error(ctx, 0, "'table' : the name is too long.");
	if (proxies_find_table(ps, name))
		return cfg_error(ctx, 0, "'table' : '%s' is in this section already.",
			cfg_arg(ctx, 0));
	if (parse_table_line(ctx, 1, &line) < 0)
		return -1;
	if (line.peers)
		return cfg_error(ctx, line.peers - 1,
			"'table' : it is shared with the peers of its own section.");
	t = mem_zalloc(sizeof(*t));
	if (!t)
		return cfg_nomem(ctx);
	t->where = cfg_arg_where(ctx, -1);
	t->name = mem_strdup(name);
	t->table = table_new(name, &line.conf, &ps->files.key);
	if (!t->name || !t->table) {
		table_free(t->table);
		mem_free(t->name);
		mem_free(t);
		return cfg_nomem(ctx);
	}
	list_append(&c->tables, &t->link);
	return 0;
}

/* Lists the tables of proxies, then those of sections peers. Returns how many; NULL: it only counts
 * them. */
static unsigned int
list_tables(const struct proxies *ps, struct table **all)
{
	unsigned int n = 0;

	list_each(it, &ps->all) {
		const struct proxy *p = list_entry(it, const struct proxy, link);

		if (p->table && all)
			all[n] = p->table;
		n += p->table != NULL;
	}
	list_each(it, &ps->peers) {
		const struct peers_conf *c = list_entry(it, const struct peers_conf, link);

		list_each(tt, &c->tables) {
			if (all)
				all[n] = list_entry(tt, const struct peers_table, link)->table;
			n++;
		}
	}
	return n;
}

/* The number of other processes of a section, and a hash of their names. */
static unsigned int
other_peers(const struct peers_conf *c, uint32_t *names)
{
	unsigned int n = 0;

	*names = 0;
	list_each(it, &c->peers) {
		const struct peer_conf *s = list_entry(it, const struct peer_conf, link);

		if (s == c->local)
			continue;
		*names = hash_crc32c(*names, s->name, strlen(s->name) + 1);
		n++;
	}
	return n;
}

/* Notes where counts of a table that adds up are those of some processes, or of one. */
static void
check_sums(const struct peers_conf *c, const struct cfg_where *where, struct cfg_diag *d)
{
	if (!c->is_used)
		cfg_diag_add(d, CFG_WARNING, where,
			"'stick-table' : 'aggregate' has no effect: section 'peers %s' %s.",
			c->name, c->is_disabled	? "is disabled"
				: c->local	? "has no other peer"
						: "does not have this process");
	list_each(it, &c->peers) {
		const struct peer_conf *s = list_entry(it, const struct peer_conf, link);

		if (!c->is_used || s == c->local || !s->shard)
			continue;
		cfg_diag_add(d, CFG_WARNING, where,
			"'stick-table' : 'aggregate' : peer '%s' gets the keys of shard %u only: "
			"its sums of others lack what is counted here.",
			s->name, s->shard);
		return;
	}
}

/* Shares a table with the processes of a section. 0 or -ERR_NOMEM. */
static int
share_with_peers(struct proxies *ps, const struct peers_conf *c, struct table *t,
	const struct cfg_where *where, struct cfg_diag *d)
{
	uint32_t names;
	unsigned int n = other_peers(c, &names);
	int r = c->is_used ? table_share(t, &ps->peers_news) : 0;

	if (table_conf_of(t)->aggregate)
		check_sums(c, where, d);
	if (r == 0 && c->is_used && table_conf_of(t)->aggregate)
		r = table_aggregate(t, n, names);
	if (r != -ERR_FULL)
		return r;
	cfg_diag_add(d, CFG_ALERT, where,
		"'stick-table' : 'aggregate' : an entry with the counts of %u peers is longer than "
		"64 kB: store less.",
		n);
	return 0;
}

/* The same for the tables of sections. */
static int
share_section_tables(struct proxies *ps, struct cfg_diag *d)
{
	int r = 0;

	list_each(it, &ps->peers) {
		const struct peers_conf *c = list_entry(it, const struct peers_conf, link);

		list_each(tt, &c->tables) {
			const struct peers_table *t =
				list_entry(tt, const struct peers_table, link);

			if (r == 0)
				r = share_with_peers(ps, c, t->table, &t->where, d);
		}
	}
	return r;
}

/* Finds the section that a table names. 0 or -ERR_NOMEM. */
static int
share_table(struct proxies *ps, const struct proxy *p, struct cfg_diag *d)
{
	const struct peers_conf *peers = proxies_find_peers(ps, p->table_peers);

	if (!peers)
		cfg_diag_add(d, CFG_ALERT, &p->table_where,
			"Proxy '%s': unable to find sync peers '%s'.", p->name, p->table_peers);
	return peers ? share_with_peers(ps, peers, p->table, &p->table_where, d) : 0;
}

/* Finds the table that t writes to. */
static void
settle_write_to(const struct proxies *ps, struct table *t, const struct cfg_where *where,
	struct cfg_diag *d)
{
	const char *name = table_conf_of(t)->write_to;
	struct table *to = name ? proxies_find_table(ps, name) : NULL;

	if (name && !to)
		cfg_diag_add(d, CFG_ALERT, where,
			"'stick-table' : 'write-to' : there is no stick-table '%s'.", name);
	else if (to == t)
		cfg_diag_add(d, CFG_ALERT, where,
			"'stick-table' : 'write-to' : a table cannot write to itself.");
	else if (to && table_write_to(t, to) < 0)
		cfg_diag_add(d, CFG_ALERT, where,
			"'stick-table' : 'write-to' : the keys of '%s' are of another type or "
			"length.",
			name);
}

/* The same for each table. */
static void
settle_copies(const struct proxies *ps, struct cfg_diag *d)
{
	list_each(it, &ps->all) {
		const struct proxy *p = list_entry(it, const struct proxy, link);

		if (p->table)
			settle_write_to(ps, p->table, &p->table_where, d);
	}
	list_each(it, &ps->peers) {
		const struct peers_conf *c = list_entry(it, const struct peers_conf, link);

		list_each(tt, &c->tables) {
			const struct peers_table *t =
				list_entry(tt, const struct peers_table, link);

			settle_write_to(ps, t->table, &t->where, d);
		}
	}
}

int
table_cfg_finish(struct proxies *ps, struct cfg_diag *d)
{
	unsigned int n = list_tables(ps, NULL);
	int r = share_section_tables(ps, d);

	list_each(it, &ps->all) {
		const struct proxy *p = list_entry(it, const struct proxy, link);

		if (p->table && !p->table_peers && table_conf_of(p->table)->aggregate)
			cfg_diag_add(d, CFG_WARNING, &p->table_where,
				"'stick-table' : 'aggregate' has no effect without 'peers'.");
		if (p->table && p->table_peers && r == 0)
			r = share_table(ps, p, d);
	}
	if (r == 0 && n) {
		ps->every_table = mem_alloc(n * sizeof(*ps->every_table));
		r = ps->every_table ? 0 : -ERR_NOMEM;
	}
	if (ps->every_table)
		ps->n_tables = list_tables(ps, ps->every_table);
	settle_copies(ps, d);
	if (r < 0)
		cfg_diag_add(d, CFG_ALERT, NULL, "stick tables: %s", err_text(r));
	return r;
}

static const struct cfg_kw kws[] = {
	{ .name = "stick-table",
		.values = data_words,
		.dflt = "none: the section has no table",
		.sections = CFG_FRONTEND | CFG_LISTEN | CFG_BACKEND,
		.max = CFG_ANY,
		.parse = parse_stick_table,
		.syntax = "type <type> [len <n>] size <size> [expire <time>] [nopurge] "
			  "[peers <section>] [aggregate] [srvkey name|addr] [brates-factor <n>] "
			  "[recv-only] [write-to <table>] [store <data>[,<data>]*]*",
		.example = "stick-table type ip size 100k expire 1m store http_req_rate(10s),gpc0",
		.doc = "A table with the name of the section. Its entries have keys of a type: ip, "
		       "ipv6, integer (of 32 bits), string (up to 31 bytes, or 'len'; longer ones "
		       "are cut) or binary (32 bytes, or 'len'). An entry that nothing touches for "
		       "the time of 'expire' is removed; when there are 'size' of them, those "
		       "touched longest ago are replaced, or with 'nopurge' new ones refused. An "
		       "entry of type ip with one rate takes 41 bytes. With 'peers' the table is "
		       "the same in all processes of that section; with 'aggregate' each counts "
		       "for itself, and counters and rates are the sum. With 'recv-only' it sends "
		       "them nothing, and has their conn_cur; with 'write-to' another table of the "
		       "same keys also has the tags and servers that they send. With "
		       "'brates-factor' rates of bytes are counted in units of so many. The words "
		       "of 'store', which may be repeated:" },
	{ .name = "table",
		.dflt = "none",
		.sections = CFG_PEERS,
		.min = 1,
		.max = CFG_ANY,
		.parse = parse_peers_table,
		.syntax = "<name> type <type> [len <n>] size <size> [expire <time>] [nopurge] "
			  "[aggregate] [srvkey name|addr] [brates-factor <n>] [recv-only] "
			  "[write-to <table>] [store <data>[,<data>]*]*",
		.doc = "A table that no proxy has, with the arguments of 'stick-table'. Rules name "
		       "it <section>/<name>." },
	{ 0 },
};

const struct cfg_module table_cfg_module = { .name = "stick-table", .kws = kws };
