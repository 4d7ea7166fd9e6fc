/* show table, set table, clear table (management manual 9.3): on the first worker, while others use
 * the tables. */
#include <arpa/inet.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "app/admin/admin_int.h"
#include "app/process/process_peers.h"
#include "peers/peer_group.h"
#include "table/table.h"

#define FILTERS_MAX 4
/* Entries that are shown in one step. */
#define ENTRIES_STEP 64
/* Slots that are examined for them; a turn ends when these had fewer. */
#define SLOTS_STEP 4096u

enum table_op { OP_EQ, OP_NE, OP_LE, OP_GE, OP_LT, OP_GT, OP_COUNT };

struct table_filter {
	enum table_data type;
	unsigned int element;
	enum table_op op;
	int64_t value;
};

/* A command on one table. */
struct table_asked {
	struct table *table;
	int clears;             /* else it shows */
	int header_is_shown;
	struct table_walk walk;
	struct table_filter filter[FILTERS_MAX];
	unsigned int n;
};

static struct table_caller
caller_of(const struct admin_conn *c)
{
	return (struct table_caller){ .sys = c->admin->worker->sys, .now_ms = admin_now_ms(c) };
}

/* --- output --- */

static void
show_table_header(struct admin_conn *c, const struct table *t)
{
	const struct table_conf *conf = table_conf_of(t);

	sbuf_addf(&c->out, "# table: %s, type: %s, size:%u, used:%u", table_name(t),
		table_type_name(conf->type), conf->size, table_used(t));
	if (table_parts(t))
		sbuf_addf(&c->out, ", aggregate:%u", table_parts(t));
	sbuf_adds(&c->out, "\n");
}

/* Text with a backslash before what separates words, and for bytes that cannot be printed. */
static void
show_string_key(struct sbuf *out, const unsigned char *p, size_t n)
{
	static const char named[] = "\tt\nn\rr\033e", plain[] = " =\\";

	for (; n && *p; p++, n--) {
		const char *letter = memchr(named, *p, sizeof(named) - 1);

		if (memchr(plain, *p, sizeof(plain) - 1))
			sbuf_addf(out, "\\%c", *p);
		else if (letter && (letter - named) % 2 == 0)
			sbuf_addf(out, "\\%c", letter[1]);
		else if (*p > ' ' && *p < 0x7f)
			sbuf_addf(out, "%c", *p);
		else
			sbuf_addf(out, "\\x%02X", *p);
	}
}

static void
show_key(struct sbuf *out, const struct table_conf *conf, const unsigned char *key)
{
	char text[INET6_ADDRSTRLEN];
	uint32_t v;

	switch (conf->type) {
	case TABLE_INTEGER:
		memcpy(&v, key, sizeof(v));
		sbuf_addf(out, "%u", v);
		break;
	case TABLE_IPV4:
		sbuf_adds(out, inet_ntop(AF_INET, key, text, sizeof(text)));
		break;
	case TABLE_IPV6:
		sbuf_adds(out, inet_ntop(AF_INET6, key, text, sizeof(text)));
		break;
	case TABLE_STRING:
		show_string_key(out, key, conf->key_len);
		break;
	case TABLE_BINARY:
	case TABLE_TYPES:
		for (uint32_t i = 0; i < conf->key_len; i++)
			sbuf_addf(out, "%02X", key[i]);
		break;
	}
}

/* The part of a value that is shown: of all, or of the peer with this number. */
#define PART_ALL UINT_MAX

static void
show_value(struct sbuf *out, struct table *t, const struct table_entry *e, enum table_data type,
	unsigned int element, unsigned int part, const struct table_caller *by)
{
	const struct table_data_info *info = &table_data_info[type];
	const char *name = info->kind == TABLE_KIND_NAME ? table_server_key(t, e) : NULL;
	uint64_t v = 0;

	if (!(info->flags & TABLE_ARRAY))
		sbuf_addf(out, " %s", info->name);
	else if (info->kind == TABLE_KIND_RATE)
		sbuf_addf(out, " %.3s%u_rate", info->name, element);
	else
		sbuf_addf(out, " %s%u", info->name, element);
	if (info->kind == TABLE_KIND_RATE)
		sbuf_addf(out, "(%u)", table_conf_of(t)->store[type].period_ms);
	if (info->kind == TABLE_KIND_NAME)
		sbuf_addf(out, "=%s", name ? name : "-");
	else if ((part == PART_ALL ? table_read(t, e, type, element, by, &v)
				   : table_read_part(t, e, type, element, part, by, &v)) == 0)
		sbuf_addf(out, "=%" PRIu64, v);
}

/* The group that shares a table. NULL: there is none. */
static const struct peer_group *
group_of(const struct admin_conn *c, const struct table *t)
{
	const struct process_peers *all = c->admin->process->peers;

	if (!all)
		return NULL;
	list_each(it, &all->runs) {
		const struct peer_group *g = list_entry(it, const struct peers_run, link)->group;

		for (unsigned int i = 0; i < g->n_tables; i++)
			if (g->table[i].table == t)
				return g;
	}
	return NULL;
}

static void
show_entry(struct admin_conn *c, struct table *t, const struct table_entry *e,
	const struct table_caller *by)
{
	const struct table_conf *conf = table_conf_of(t);

	sbuf_addf(&c->out, "0x%" PRIx64 ": key=", table_entry_id(t, e, by->sys));
	show_key(&c->out, conf, table_entry_key(t, e));
	sbuf_addf(&c->out, " use=%u exp=%u", table_refs(e), table_expires_in(t, e, by));
	for (unsigned int i = 0; i < TABLE_DATA_TYPES; i++)
		for (unsigned int j = 0; j < conf->store[i].n; j++)
			show_value(&c->out, t, e, (enum table_data)i, j, PART_ALL, by);
	sbuf_adds(&c->out, "\n");
}

/* Shows the part of each peer in an entry of a table that adds up. */
static void
show_parts(struct admin_conn *c, struct table *t, const struct table_entry *e,
	const struct table_caller *by)
{
	const struct table_conf *conf = table_conf_of(t);
	const struct peer_group *g = table_parts(t) ? group_of(c, t) : NULL;

	for (unsigned int part = 0; g && part < table_parts(t); part++) {
		sbuf_addf(&c->out, "# peer %s:", g->peer[part].name);
		for (unsigned int i = 0; i < TABLE_DATA_TYPES; i++)
			for (unsigned int j = 0; j < conf->store[i].n; j++)
				if (!table_data_is_set(i))
					show_value(&c->out, t, e, (enum table_data)i, j, part, by);
		sbuf_adds(&c->out, "\n");
	}
}

/* --- keys and data in commands --- */

/* Makes a key of a word. 0, or -1 after a message. */
static int
parse_key(struct admin_conn *c, const struct table *t, const char *word, const char *doing,
	struct table_key *k)
{
	struct in6_addr six;
	struct in_addr four;
	char *end;
	unsigned long long v;
	int r = -1;

	switch (table_conf_of(t)->type) {
	case TABLE_INTEGER:
		v = strtoull(word, &end, 10);
		if (word[0] >= '0' && word[0] <= '9' && !*end && v <= UINT32_MAX)
			r = table_key_int(t, k, (uint32_t)v);
		break;
	case TABLE_IPV4:
		if (inet_pton(AF_INET, word, &four) == 1)
			r = table_key_ipv4(t, k, four);
		break;
	case TABLE_IPV6:
		if (inet_pton(AF_INET6, word, &six) == 1)
			r = table_key_ipv6(t, k, &six);
		break;
	case TABLE_STRING:
		r = table_key_bytes(t, k, word, strlen(word));
		break;
	case TABLE_BINARY:
	case TABLE_TYPES:
		admin_msg(c, ADMIN_ERR,
			"%s keys %s tables of type other than ip, ipv6, string and integer is not "
			"supported",
			doing, strcmp(doing, "Inserting") == 0 ? "into" : "from");
		return -1;
	}
	if (r < 0)
		admin_msg(c, ADMIN_ERR, "Invalid key");
	return r;
}

/* Checks that the user may see and change entries. 0, or -1 after a message. */
static int
check_level(struct admin_conn *c)
{
	if (c->level >= BIND_OPERATOR)
		return 0;
	admin_msg(c, ADMIN_ERR, "Permission denied");
	return -1;
}

/* Makes a key of the words behind "key". 0, or -1 after a message. */
static int
key_of_words(struct admin_conn *c, const struct table *t, int argc, char **argv, const char *doing,
	struct table_key *k)
{
	if (argc < 1) {
		admin_msg(c, ADMIN_ERR, "Key value expected");
		return -1;
	}
	return parse_key(c, t, argv[0], doing, k) < 0 ? -1 : check_level(c);
}

/* Parses "gpc0" or "gpc[2]". The message, NULL: none. */
static const char *
data_of_word(const struct table *t, const char *word, enum table_data *type, unsigned int *element)
{
	size_t n = strcspn(word, "[");
	int found = table_data_find(word, n);
	char *end = NULL;
	unsigned long i = 0;

	if (word[n]) {
		i = strtoul(word + n + 1, &end, 10);
		if (end == word + n + 1 || strcmp(end, "]") != 0 || found < 0 ||
			!(table_data_info[found].flags & TABLE_ARRAY))
			found = -1;
	}
	if (found < 0)
		return "Unknown data type";
	/* "gpc0" of a table with an array gpc: show table writes it, but only gpc[0] names it. */
	if (i >= table_conf_of(t)->store[found].n)
		return "Data type not stored in this table";
	*type = (enum table_data)found;
	*element = (unsigned int)i;
	return NULL;
}

static int
value_of_word(const char *word, int64_t *v)
{
	char *end;

	*v = strtoll(word, &end, 10);
	return *word && !*end ? 0 : -1;
}

/* --- filters --- */

static int
op_of_word(const char *word, enum table_op *op)
{
	static const char names[OP_COUNT][3] = { "eq", "ne", "le", "ge", "lt", "gt" };

	for (unsigned int i = 0; i < OP_COUNT; i++)
		if (strcmp(names[i], word) == 0) {
			*op = (enum table_op)i;
			return 0;
		}
	return -1;
}

/* One "data.<type> <op> <value>". The message, NULL: none. */
static const char *
parse_filter(struct table_asked *q, int argc, char **argv)
{
	struct table_filter *f = &q->filter[q->n];
	const char *why;

	if (strncmp(argv[0], "data.", 5) != 0)
		return "Unknown data type";
	why = data_of_word(q->table, argv[0] + 5, &f->type, &f->element);
	if (why)
		return why;
	if (argc < 2 || op_of_word(argv[1], &f->op) < 0)
		return "Require and operator among \"eq\", \"ne\", \"le\", \"ge\", \"lt\", \"gt\"";
	if (argc < 3 || value_of_word(argv[2], &f->value) < 0)
		return "Require a valid integer value to compare against";
	q->n++;
	return NULL;
}

/* Parses the filters in argv. `before`: words before them. 0, or -1 after a message. */
static int
parse_filters(struct admin_conn *c, struct table_asked *q, int argc, char **argv, int before)
{
	const char *why = NULL;
	int at = 0;

	for (; !why && at < argc && q->n < FILTERS_MAX; at += 3)
		why = parse_filter(q, argc - at, argv + at);
	if (why)
		admin_msg(c, ADMIN_ERR, "Filter entry #%u: %s", q->n + 1, why);
	else if (at < argc)
		admin_msg(c, ADMIN_ERR,
			"Detected extra data in filter, %dth word of input, after '%s'",
			before + at + 1, argv[at - 1]);
	else
		return 0;
	return -1;
}

static int
fits_filter(struct table *t, const struct table_entry *e, const struct table_filter *f,
	const struct table_caller *by)
{
	uint64_t v = 0;
	int64_t diff;

	if (table_data_info[f->type].kind == TABLE_KIND_NAME ||
		table_read(t, e, f->type, f->element, by, &v) < 0)
		return 0;
	diff = ((int64_t)v > f->value) - ((int64_t)v < f->value);
	switch (f->op) {
	case OP_EQ:
		return diff == 0;
	case OP_NE:
		return diff != 0;
	case OP_LE:
		return diff <= 0;
	case OP_GE:
		return diff >= 0;
	case OP_LT:
		return diff < 0;
	case OP_GT:
		return diff > 0;
	case OP_COUNT:
		break;
	}
	return 0;
}

static int
fits_filters(const struct table_asked *q, const struct table_entry *e,
	const struct table_caller *by)
{
	for (unsigned int i = 0; i < q->n; i++)
		if (!fits_filter(q->table, e, &q->filter[i], by))
			return 0;
	return 1;
}

/* --- entries --- */

static void
use_entry(struct admin_conn *c, const struct table_asked *q, struct table_entry *e,
	const struct table_caller *by)
{
	int fits = fits_filters(q, e, by);

	if (q->clears && fits) {
		(void)table_remove(q->table, e, by);
		return;
	}
	if (fits)
		show_entry(c, q->table, e, by);
	table_unref(e);
}

static int
walk_table(struct admin_conn *c, void *state)
{
	struct table_asked *q = state;
	struct table_caller by = caller_of(c);
	unsigned int most = SLOTS_STEP;

	if (!q->clears && !q->header_is_shown)
		show_table_header(c, q->table);
	q->header_is_shown = 1;
	for (unsigned int i = 0; i < ENTRIES_STEP; i++) {
		struct table_entry *e = table_walk(q->table, &q->walk, &most, &by);

		if (!e) {
			c->walk.ends_turn = 1;
			return !most;
		}
		use_entry(c, q, e, &by);
	}
	return 1;
}

/* Shows or clears the entry of a key. */
static void
use_key(struct admin_conn *c, struct table_asked *q, int argc, char **argv)
{
	struct table_caller by = caller_of(c);
	struct table_entry *e;
	struct table_key k;

	if (key_of_words(c, q->table, argc, argv, q->clears ? "Removing" : "Showing", &k) < 0)
		return;
	e = table_find(q->table, &k, &by);
	if (!e)
		return;
	if (q->clears) {
		if (table_remove(q->table, e, &by) < 0)
			admin_msg(c, ADMIN_ERR, "Entry currently in use, cannot remove");
		return;
	}
	show_table_header(c, q->table);
	show_entry(c, q->table, e, &by);
	show_parts(c, q->table, e, &by);
	table_unref(e);
}

/* --- commands --- */

/* All tables, the last of the configuration first. */
static void
show_tables(struct admin_conn *c)
{
	const struct proxies *ps = &c->admin->process->cfg->proxies;

	for (unsigned int i = ps->n_tables; i-- > 0;)
		show_table_header(c, ps->every_table[i]);
}

static void
report_usage(struct admin_conn *c, int clears)
{
	admin_msg(c, ADMIN_ERR, "%s",
		clears ? "Required arguments: <table> \"data.<store_data_type>\" <operator> "
			 "<value> or <table> key <key>"
		       : "Optional argument only supports \"data.<store_data_type>\" <operator> "
			 "<value> and key <key>");
}

/* The table of argv[0] in q, or -1 after a message. */
static int
find_asked(struct admin_conn *c, struct table_asked *q, char **argv)
{
	q->table = proxies_find_table(&c->admin->process->cfg->proxies, argv[0]);
	if (q->table)
		return 0;
	admin_msg(c, ADMIN_ERR, "No such table");
	return -1;
}

/* show table <table>, clear table <table>: the rest of the words. */
static void
run_asked(struct admin_conn *c, struct table_asked *q, int argc, char **argv)
{
	int by_key = argc > 1 && strcmp(argv[1], "key") == 0;

	if (find_asked(c, q, argv) < 0)
		return;
	if (argc > 1 && !by_key && strncmp(argv[1], "data.", 5) != 0) {
		report_usage(c, q->clears);
		return;
	}
	if (by_key) {
		use_key(c, q, argc - 2, argv + 2);
		return;
	}
	if (parse_filters(c, q, argc - 1, argv + 1, 3) < 0)
		return;
	if (!q->clears && c->level < BIND_OPERATOR) {
		show_table_header(c, q->table);
		sbuf_adds(&c->out, "# contents not dumped due to insufficient privileges\n");
	} else if (check_level(c) == 0) {
		admin_walk(c, walk_table, q, sizeof(*q));
	}
}

void
admin_cmd_show_table(struct admin_conn *c, int argc, char **argv)
{
	struct table_asked q = { .clears = 0 };

	if (argc < 1)
		show_tables(c);
	else
		run_asked(c, &q, argc, argv);
}

void
admin_cmd_clear_table(struct admin_conn *c, int argc, char **argv)
{
	struct table_asked q = { .clears = 1 };

	if (argc < 1)
		report_usage(c, 1);
	else
		run_asked(c, &q, argc, argv);
}

/* Sets "data.<type> <value>" of the entry, pair by pair. */
static void
set_data(struct admin_conn *c, struct table *t, struct table_entry *e, int argc, char **argv)
{
	struct table_caller by = caller_of(c);

	for (int i = 0; i < argc; i += 2) {
		unsigned int element = 0;
		enum table_data type = TABLE_SERVER_ID;
		const char *why;
		int64_t v;

		if (strncmp(argv[i], "data.", 5) != 0) {
			admin_msg(c, ADMIN_ERR, "\"data.<type>\" followed by a value expected");
			return;
		}
		why = data_of_word(t, argv[i] + 5, &type, &element);
		if (!why && (i + 1 >= argc || value_of_word(argv[i + 1], &v) < 0))
			why = "Require a valid integer value to store";
		if (why) {
			admin_msg(c, ADMIN_ERR, "%s", why);
			return;
		}
		if (table_data_info[type].kind != TABLE_KIND_NAME)
			(void)table_set(t, e, type, element, &by, (uint64_t)v);
	}
}

void
admin_cmd_set_table(struct admin_conn *c, int argc, char **argv)
{
	struct table_caller by = caller_of(c);
	struct table_asked q = { .clears = 0 };
	struct table_entry *e;
	struct table_key k;

	if (argc && find_asked(c, &q, argv) < 0)
		return;
	if (!argc || (argc > 1 && strcmp(argv[1], "key") != 0)) {
		admin_msg(c, ADMIN_ERR,
			"Required arguments: <table> key <key> [data.<store_data_type> <value>]*");
		return;
	}
	if (argc == 1 ||
		key_of_words(c, q.table, argc - 2, argv + 2, "Inserting", &k) < 0)
		return;
	e = table_get(q.table, &k, &by);
	if (!e) {
		admin_msg(c, ADMIN_ERR, "Unable to allocate a new entry");
		return;
	}
	set_data(c, q.table, e, argc - 3, argv + 3);
	table_unref(e);
}
