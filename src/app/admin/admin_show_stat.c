/* The text of all rows, and the command show stat. On the first worker. */
#include "app/admin/admin_int.h"
#include "app/admin/admin_show_stat.h"
#include "app/admin/latency_json.h"
#include "app/admin/stat_forms.h"

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
