/* Reads files with states of servers and finds the server of each row. Main thread, at start. */
#include "app/process/state_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/process/process.h"
#include "app/process/state_row.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "proxy/model/proxy.h"

#define STATE_FILE_MAX (64u << 20)
#define PATH_BUF 4096

/* "" for the file of the section global, else "Proxy 'b': ". */
struct state_source {
	const struct report *report;
	const struct proxy *px;    /* NULL: the global file */
	char path[PATH_BUF];
};

/* HAProxy's words: "config: Can't open global server state file ...". */
static void
warn_of_file(const struct state_source *f, const char *what, const char *rest)
{
	if (f->px)
		report_msg(f->report, REPORT_WARNING,
			"config : Proxy '%s': %s server state file '%s'%s", f->px->name, what,
			f->path, rest);
	else
		report_msg(f->report, REPORT_WARNING,
			"config : config: %s global server state file '%s'%s", what, f->path, rest);
}

static char *
read_file(struct process *p, const struct state_source *f)
{
	char *text = NULL, why[160];
	size_t len;
	long r = file_read(p->sys, f->path, STATE_FILE_MAX, &text, &len);

	if (r < 0) {
		(void)snprintf(why, sizeof(why), ": %s%s", err_text((int)r), f->px ? "." : "");
		warn_of_file(f, "Can't open", why);
	}
	return text;
}

/* Relative names are in server-state-base. 0, or -1: too long. */
static int
set_path(struct state_source *f, const char *base, const char *name)
{
	int n;

	if (name[0] == '/' || !base)
		n = snprintf(f->path, sizeof(f->path), "%s", name);
	else
		n = snprintf(f->path, sizeof(f->path), "%s/%s", base, name);
	return n < (int)sizeof(f->path) ? 0 : -1;
}

static int
open_source(struct process *p, const struct proxy *px, struct state_source *f)
{
	const struct global_conf *g = &p->cfg->global;
	const char *name = !px ? g->state_file
		: px->state_file_name ? px->state_file_name
				      : px->name;

	f->report = p->report;
	f->px = px;
	return set_path(f, g->state_base, name);
}

static int
has_file(const struct proxy *px, enum state_file which)
{
	return !px->disabled && (px->caps & PROXY_BE) && px->state_file == which;
}

/* Backends that want the global file without there being one are reported. */
static unsigned int
count_users(struct process *p, enum state_file which)
{
	unsigned int n = 0;

	list_each(it, &p->cfg->proxies.all) {
		const struct proxy *px = list_entry(it, struct proxy, link);

		if (!has_file(px, which))
			continue;
		n++;
		if (which == STATE_FILE_GLOBAL && !p->cfg->global.state_file)
			report_msg(p->report, REPORT_WARNING,
				"config : backend '%s' configured to load server state file from "
				"global section 'server-state-file' directive. Unfortunately, "
				"'server-state-file' is not set!", px->name);
	}
	return n;
}

void
state_files_read(struct process *p)
{
	struct state_texts *t = &p->states;
	struct state_source f;
	size_t i = 0;

	if (count_users(p, STATE_FILE_GLOBAL) && p->cfg->global.state_file &&
		open_source(p, NULL, &f) == 0)
		t->global = read_file(p, &f);
	if (!count_users(p, STATE_FILE_LOCAL))
		return;
	t->local = mem_zalloc(p->cfg->proxies.n * sizeof(*t->local));
	t->n = t->local ? p->cfg->proxies.n : 0;
	list_each(it, &p->cfg->proxies.all) {
		const struct proxy *px = list_entry(it, struct proxy, link);

		if (i < t->n && has_file(px, STATE_FILE_LOCAL) && open_source(p, px, &f) == 0)
			t->local[i] = read_file(p, &f);
		i++;
	}
}

void
state_files_free(struct process *p)
{
	struct state_texts *t = &p->states;

	mem_free(t->global);
	for (size_t i = 0; i < t->n; i++)
		mem_free(t->local[i]);
	mem_free(t->local);
	memset(t, 0, sizeof(*t));
}

/* Splits a row in place. */
static void
split_row(char *row, char *field[STATE_FIELDS])
{
	static char none[] = "";
	unsigned int n = 0;
	char *rest = NULL;

	for (char *w = strtok_r(row, " ", &rest); w && n < STATE_FIELDS;
		w = strtok_r(NULL, " ", &rest))
		field[n++] = w;
	for (unsigned int i = n; i < STATE_FIELDS; i++)
		field[i] = none;
}

static void
apply_row(struct process *p, const struct state_source *f, char *const *field)
{
	struct proxy *be = proxies_find(&p->cfg->proxies, field[STATE_BE_NAME], PROXY_BE);
	struct server *s;

	if (f->px && be != f->px) {
		report_msg(f->report, REPORT_WARNING,
			"config : Proxy '%s': backend name mismatch: from server state file: '%s', "
			"from running config '%s'", f->px->name, field[STATE_BE_NAME], f->px->name);
		return;
	}
	if (!be || !has_file(be, f->px ? STATE_FILE_LOCAL : STATE_FILE_GLOBAL))
		return;
	s = proxy_find_server(be, str_of(field[STATE_SRV_NAME]));
	if (s)
		state_row_apply(&process_first(p)->engine, p->report, s, field);
	else if (f->px)
		report_msg(f->report, REPORT_WARNING,
			"config : Proxy '%s': can't find server '%s' in backend '%s'", f->px->name,
			field[STATE_SRV_NAME], f->px->name);
}

static int
is_row(const char *line)
{
	return *line && *line != '\n' && *line != '#';
}

static unsigned int
count_fields(const char *line)
{
	unsigned int n = 0;

	while (*(line += strspn(line, " ")) && *line != '\n') {
		n++;
		line += strcspn(line, " \n");
	}
	return n;
}

/* The first line is the version, and the second one has the names of the fields. As in HAProxy
 * lines are counted from there, and nothing of a file with an incomplete line is used. */
static int
check_text(const struct state_source *f, const char *text)
{
	const char *end;
	char why[40];

	if (strncmp(text, "1\n", 2) != 0) {
		warn_of_file(f, "Can't get version of the", ".");
		return -1;
	}
	text += 2;
	for (unsigned int line = 1; *text; line++, text = end + 1) {
		end = strchr(text, '\n');
		if (end && (!is_row(text) || count_fields(text) >= STATE_FIELDS_MIN))
			continue;
		(void)snprintf(why, sizeof(why), " at line %u.", line);
		warn_of_file(f, "corrupted", why);
		return -1;
	}
	return 0;
}

static void
apply_text(struct process *p, const struct state_source *f, char *text)
{
	char *field[STATE_FIELDS], *rest = NULL;

	if (check_text(f, text) < 0)
		return;
	for (char *line = strtok_r(text + 2, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		if (is_row(line)) {
			split_row(line, field);
			apply_row(p, f, field);
		}
}

void
state_files_apply(struct process *p)
{
	struct state_texts *t = &p->states;
	struct state_source f;
	size_t i = 0;

	if (t->global && open_source(p, NULL, &f) == 0)
		apply_text(p, &f, t->global);
	list_each(it, &p->cfg->proxies.all) {
		const struct proxy *px = list_entry(it, struct proxy, link);

		if (i < t->n && t->local[i] && open_source(p, px, &f) == 0)
			apply_text(p, &f, t->local[i]);
		i++;
	}
	state_files_free(p);
}
