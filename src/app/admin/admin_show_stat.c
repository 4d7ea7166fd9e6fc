/* The text of all rows, and the command show stat. On the first worker. */
#include "app/admin/admin_show_stat.h"

#include <string.h>

#include "app/admin/admin_int.h"
#include "app/admin/admin_latency.h"
#include "app/admin/stat_row.h"
#include "base/compiler.h"
#include "cfg/value.h"

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
