/* show info: the process as fields in HAProxy's forms (management manual 9.3). On the first
 * worker. */
#include <string.h>

#include "app/admin/admin_int.h"
#include "app/admin/info.h"
#include "app/config/version.h"

static void
info_print_plain(struct sbuf *o, const struct info *i, int has_desc)
{
	for (int f = 0; f < INFO_FIELDS; f++) {
		if (i->v[f].kind == VAL_NONE)
			continue;
		sbuf_addf(o, "%s: ", info_field_of((enum info_field)f)->name);
		field_put_value(o, &i->v[f]);
		if (has_desc)
			sbuf_addf(o, ":\"%s\"", info_field_of((enum info_field)f)->desc);
		sbuf_addc(o, '\n');
	}
}

/* HAProxy calls these gauges, except as floating-point numbers. */
static struct field
info_field(const struct info *i, enum info_field f)
{
	struct field d = *info_field_of(f);

	if (i->is_float && (f == INFO_sslfrontendkeyrate || f == INFO_sslfrontendsessionreuse))
		d.tags = "MRP";
	return d;
}

static void
info_print_typed(struct sbuf *o, const struct info *i, int has_desc)
{
	struct field d;

	for (int f = 0; f < INFO_FIELDS; f++) {
		if (i->v[f].kind == VAL_NONE)
			continue;
		d = info_field(i, (enum info_field)f);
		sbuf_addf(o, "%u.%s.1", d.pos, d.name);
		field_put_typed(o, &d, &i->v[f], has_desc);
	}
}

static void
info_print_json(struct sbuf *o, const struct info *i)
{
	const char *before = "[{";
	struct field d;

	for (int f = 0; f < INFO_FIELDS; f++) {
		if (i->v[f].kind == VAL_NONE)
			continue;
		sbuf_adds(o, before);
		d = info_field(i, (enum info_field)f);
		field_put_json(o, &d, &i->v[f]);
		before = "},{";
	}
	sbuf_adds(o, "}]\n");
}

void
admin_cmd_show_info(struct admin_conn *c, int argc, char **argv)
{
	struct info i;
	enum field_form form = FORM_PLAIN;
	int has_desc = 0, is_float = 0;

	for (int a = 0; a < argc; a++) {
		if (strcmp(argv[a], "typed") == 0) {
			form = FORM_TYPED;
		} else if (strcmp(argv[a], "json") == 0) {
			form = FORM_JSON;
		} else if (strcmp(argv[a], "desc") == 0) {
			has_desc = 1;
		} else if (strcmp(argv[a], "float") == 0) {
			is_float = 1;
		} else {
			admin_msg(c, ADMIN_ERR,
				"Invalid argument '%s': expects desc, float, json or typed.",
				argv[a]);
			return;
		}
	}
	info_read(&i, c->admin->process, is_float);
	if (form == FORM_JSON)
		info_print_json(&c->out, &i);
	else if (form == FORM_TYPED)
		info_print_typed(&c->out, &i, has_desc);
	else
		info_print_plain(&c->out, &i, has_desc);
}

void
admin_cmd_show_version(struct admin_conn *c, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	admin_msg(c, ADMIN_INFO, "%s", VERSION_COMPAT);
}

void
admin_cmd_show_schema_json(struct admin_conn *c, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	field_put_schema(&c->out);
}
