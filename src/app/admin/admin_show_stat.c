/* The text of all rows, and the command show stat. On the first worker. */
#include "app/admin/admin_show_stat.h"

#include <string.h>

#include "app/admin/admin_int.h"
#include "app/admin/admin_latency.h"
#include "app/admin/stat_rows.h"
#include "base/compiler.h"
#include "cfg/value.h"

/* --- a row as text: pure, changes nothing but the string --- */

enum {
	NUMBER_MAX = 20, /* digits, or a sign and 19 digits */
	PLAIN_MAX = 32   /* text that is copied as it is; not less than a number */
};

/* "# " and the names of the columns. */
static void
stat_row_header(struct sbuf *out)
{
	static const char *const names[STAT_COLS] = {
#define STAT_NAMED(id, text, tags, type, desc) text,
#define STAT_COL(name, tags, type, desc) STAT_NAMED(name, #name, tags, type, desc)
#include "app/admin/stat.tbl.h"
#undef STAT_COL
#undef STAT_NAMED
	};

	sbuf_adds(out, "# ");
	for (int c = 0; c < STAT_COLS; c++)
		sbuf_addf(out, "%s,", names[c]);
	sbuf_addc(out, '\n');
}

/* Text with a comma or quote is quoted as in RFC 4180. */
static void
print_quoted(struct sbuf *out, const char *s)
{
	sbuf_addc(out, '"');
	for (; *s; s++) {
		if (*s == '"')
			sbuf_addc(out, '"');
		sbuf_addc(out, *s);
	}
	sbuf_addc(out, '"');
}

/* Writes its digits without a NUL. Returns their number. */
static size_t
put_number(char *to, int64_t n)
{
	uint64_t left = n < 0 ? -(uint64_t)n : (uint64_t)n;
	char digits[NUMBER_MAX];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + left % 10);
		left /= 10;
	} while (left);
	if (n < 0)
		digits[--at] = '-';
	memcpy(to, digits + at, sizeof(digits) - at);
	return sizeof(digits) - at;
}

/* Copies a text that needs no quotes and is short. Returns its length, or -1. */
static int
put_plain(char *to, const char *s)
{
	int n = 0;

	for (; s[n]; n++) {
		if (n == PLAIN_MAX || s[n] == ',' || s[n] == '"' || s[n] == '\n')
			return -1;
		to[n] = s[n];
	}
	return n;
}

static void
print_text(struct sbuf *out, const char *s)
{
	if (strpbrk(s, ",\"\n"))
		print_quoted(out, s);
	else
		sbuf_adds(out, s);
}

/* Most values are buffered: a row has about a hundred, and there are many rows. */
static void
stat_row_print(struct sbuf *out, const struct stat_row *r)
{
	char text[STAT_COLS * (PLAIN_MAX + 1) + 1];
	size_t n = 0;
	int len;

	for (int c = 0; c < STAT_COLS; c++) {
		if (r->v[c].kind == VAL_INT) {
			n += put_number(text + n, r->v[c].u.n);
		} else if (r->v[c].kind == VAL_TEXT) {
			len = put_plain(text + n, r->v[c].u.s);
			if (len >= 0) {
				n += (size_t)len;
			} else {
				sbuf_add(out, text, n);
				n = 0;
				print_text(out, r->v[c].u.s);
			}
		}
		text[n++] = ',';
	}
	text[n++] = '\n';
	sbuf_add(out, text, n);
}

/* --- the typed and JSON forms --- */

static enum stat_type
row_type(const struct stat_row *r)
{
	return (enum stat_type)r->v[STAT_type].u.n;
}

/* A few columns mean something else in the row of a server or of a backend. */
static struct field
stat_column(enum stat_col c, enum stat_type type)
{
	struct field f = *stat_field(c);

	if (type == TYPE_SERVER && (c == STAT_act || c == STAT_bck))
		f.tags = "SGP";
	if (type == TYPE_BACKEND && (c == STAT_rate || c == STAT_rate_max))
		f.tags = "MGP";
	return f;
}

static int
is_in_row(const struct stat_row *r, enum stat_col c)
{
	return c != STAT_separator && r->v[c].kind != VAL_NONE;
}

/* A line for each value of a row, with its description if has_desc. */
static void
stat_row_print_typed(struct sbuf *out, const struct stat_row *r, int has_desc)
{
	enum stat_type type = row_type(r);

	for (enum stat_col c = 0; c < STAT_COLS; c++) {
		struct field f;

		if (!is_in_row(r, c))
			continue;
		f = stat_column(c, type);
		sbuf_addf(out, "%c.%lld.%lld.%u.%s.1", "FBSL"[type],
			(long long)r->v[STAT_iid].u.n, (long long)r->v[STAT_sid].u.n, f.pos,
			f.name);
		field_put_typed(out, &f, &r->v[c], has_desc);
	}
}

/* The row as an array of its values, without the bracket that ends it. */
static void
stat_row_print_json(struct sbuf *out, const struct stat_row *r)
{
	enum stat_type type = row_type(r);
	const char *before = "[";

	for (enum stat_col c = 0; c < STAT_COLS; c++) {
		struct field f;

		if (!is_in_row(r, c))
			continue;
		f = stat_column(c, type);
		sbuf_addf(out, "%s{\"objType\":\"%s\",\"proxyId\":%lld,\"id\":%lld,", before,
			stat_type_name(type), (long long)r->v[STAT_iid].u.n,
			(long long)r->v[STAT_sid].u.n);
		field_put_json(out, &f, &r->v[c]);
		sbuf_addc(out, '}');
		before = ",";
	}
}

static void
print_stat(struct sbuf *out, const struct stat_args *a, int is_first, const struct stat_item *item)
{
	const struct stat_row *r = &item->row;

	if (a->form == FORM_TYPED) {
		stat_row_print_typed(out, r, a->has_desc);
	} else if (a->form == FORM_JSON) {
		if (!is_first)
			sbuf_addc(out, ',');
		stat_row_print_json(out, r);
		latency_json_put_fields(out, item);
		sbuf_addc(out, ']');
	} else {
		stat_row_print(out, r);
	}
}

void
stat_print_begin(const struct stat_walk *w, struct sbuf *out)
{
	if (w->args.form == FORM_PLAIN)
		stat_row_header(out);
	else if (w->args.form == FORM_JSON)
		sbuf_addc(out, '[');
}

int
stat_print_next(struct stat_walk *w, const struct process *p, struct sbuf *out)
{
	struct stat_item item;

	switch (stat_walk_next(w, p, &item)) {
	case STAT_ITEM:
		print_stat(out, &w->args, !w->has_rows, &item);
		w->has_rows = 1;
		return 1;
	case STAT_NOTHING:
		return 1;
	case STAT_END:
		break;
	}
	if (w->args.form == FORM_JSON)
		sbuf_adds(out, "]\n");
	return 0;
}

static int
next_row(struct admin_conn *c, void *state)
{
	return stat_print_next(state, c->admin->process, &c->out);
}

/* --- arguments ------------------------------------------------------------------------------- */

/*
 * Arguments of show stat: [domain proxy] [<iid|proxy> <type> <sid>] and words in any order. On
 * the first worker.
 */

/* 1: the word is one of those, and applied. */
static int
take_stat_word(struct stat_args *a, const char *word)
{
	if (strcmp(word, "typed") == 0)
		a->form = FORM_TYPED;
	else if (strcmp(word, "json") == 0)
		a->form = FORM_JSON;
	else if (strcmp(word, "desc") == 0)
		a->has_desc = 1;
	else if (strcmp(word, "no-maint") == 0)
		a->hide = MAX(a->hide, STAT_HIDE_MAINT);
	else if (strcmp(word, "up") == 0)
		a->hide = STAT_HIDE_DOWN;
	else
		return 0;
	return 1;
}

/* An id or a proxy's name. 0: neither. */
static int
take_iid(struct admin_conn *c, struct stat_args *a, const char *text)
{
	const struct proxies *ps = &c->admin->process->cfg->proxies;
	const struct proxy *p;

	if (cfg_value_int(text, -1, INT32_MAX, &a->iid, NULL) == 0)
		return 1;
	p = proxies_find(ps, text, PROXY_FE | PROXY_BE);
	if (p)
		a->iid = p->id;
	return p != NULL;
}

static int
take_filter(struct admin_conn *c, char **argv, struct stat_args *a)
{
	if (!take_iid(c, a, argv[0])) {
		admin_msg(c, ADMIN_ERR, "No such proxy.");
		return -1;
	}
	if (cfg_value_int(argv[1], -1, INT32_MAX, &a->types, NULL) == 0 &&
		cfg_value_int(argv[2], -1, INT32_MAX, &a->sid, NULL) == 0)
		return 0;
	admin_msg(c, ADMIN_ERR, "Invalid filter: expects <iid|proxy> <type> <sid>.");
	return -1;
}

/* A proxy may have the name of a word; then three arguments are a filter. */
static int
begins_with_filter(struct admin_conn *c, int argc, char **argv)
{
	struct stat_args tried = { 0 };

	return argc >= 3 && (take_iid(c, &tried, argv[0]) || !take_stat_word(&tried, argv[0]));
}

/* 0, or -1 after a message. */
static int
stat_args_parse(struct admin_conn *c, int argc, char **argv, struct stat_args *a)
{
	int i = 0;

	*a = (struct stat_args){ .iid = -1, .types = -1, .sid = -1, .only = STAT_COLS };
	if (argc > 0 && strcmp(argv[0], "domain") == 0) {
		if (argc < 2 || strcmp(argv[1], "proxy") != 0) {
			admin_msg(c, ADMIN_ERR, "Invalid statistics domain.");
			return -1;
		}
		i = 2;
	}
	if (begins_with_filter(c, argc - i, argv + i)) {
		if (take_filter(c, argv + i, a) < 0)
			return -1;
		i += 3;
	}
	for (; i < argc; i++)
		if (!take_stat_word(a, argv[i])) {
			admin_msg(c, ADMIN_ERR,
				"Invalid argument '%s': expects desc, json, no-maint, typed, up, "
				"or <iid|proxy> <type> <sid>.",
				argv[i]);
			return -1;
		}
	return 0;
}

/* --- the command ----------------------------------------------------------------------------- */

void
admin_cmd_show_stat(struct admin_conn *c, int argc, char **argv)
{
	struct stat_walk w;

	stat_walk_init(&w, c->admin->process);
	if (stat_args_parse(c, argc, argv, &w.args) < 0)
		return;
	stat_print_begin(&w, &c->out);
	admin_walk(c, next_row, &w, sizeof(w));
}
