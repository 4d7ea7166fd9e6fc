/* Crt-lists at run time (management manual 9.3), in HAProxy's words. On the first worker; the
 * others are paused for the moment of a change only. */
#include <stdlib.h>
#include <string.h>

#include "app/admin/admin_tls_int.h"
#include "app/process/ocsp_job.h"
#include "base/err.h"
#include "base/mem.h"
#include "net/listener.h"
#include "tls/bind.h"

/* --- show --- */

struct finding {
	const struct tls_crt_list *list;
	struct tls_bind *bind;    /* the first that names it; NULL: none */
};

static int
find_bind(struct bind_conf *b, struct proxy *p unused, void *arg)
{
	struct finding *f = arg;

	if (!tls_bind_names_list(b->tls, f->list))
		return 0;
	f->bind = b->tls;
	return 1;
}

/* All bind lines that name a list have the same lines of it. */
static struct tls_bind *
bind_of(struct admin_conn *c, const struct tls_crt_list *list)
{
	struct finding f = { .list = list };

	(void)admin_tls_each_bind(c, find_bind, &f);
	return f.bind;
}

struct list_walk {
	const struct tls_crt_list *list;
	unsigned int at;      /* number of lines that were shown */
	int numbers;
};

enum { LINES_AT_ONCE = 64 };

static void
show_list_line(struct admin_conn *c, const struct tls_line *l, int numbers)
{
	sbuf_adds(&c->out, l->entry->name);
	if (numbers)
		sbuf_addf(&c->out, ":%u", l->number);
	if (l->options)
		sbuf_addf(&c->out, " [%s]", l->options);
	for (unsigned int i = 0; i < l->n_filters; i++)
		sbuf_addf(&c->out, " %s", l->filter[i]);
	sbuf_addc(&c->out, '\n');
}

static int
show_some(struct admin_conn *c, void *state)
{
	struct list_walk *w = state;
	const struct tls_bind *b = bind_of(c, w->list);
	unsigned int n = 0;

	if (!b)
		return 0;
	list_each(it, &b->lines) {
		const struct tls_line *l = list_entry(it, const struct tls_line, link);

		if (l->list != w->list || n++ < w->at)
			continue;
		show_list_line(c, l, w->numbers);
		if (++w->at % LINES_AT_ONCE == 0)
			return 1;
	}
	return 0;
}

void
admin_cmd_show_ssl_crt_list(struct admin_conn *c, int argc, char **argv)
{
	const struct list *lists = &admin_tls_conf(c)->crt_lists;
	int numbers = argc > 0 && strcmp(argv[0], "-n") == 0;
	struct list_walk w = { .numbers = numbers };

	if (argc > numbers) {
		w.list = tls_crt_lists_find_path(lists, argv[numbers]);
		if (!w.list || !bind_of(c, w.list)) {
			admin_msg(c, ADMIN_ERR, "didn't find the specified filename");
			return;
		}
		sbuf_addf(&c->out, "# %s\n", w.list->name);
		admin_walk(c, show_some, &w, sizeof(w));
	} else if (numbers) {
		admin_msg(c, ADMIN_ERR,
			"'show ssl crt-list -n' expects a filename or a directory");
	} else {
		list_each(it, lists)
			sbuf_addf(&c->out, "%s\n",
				list_entry(it, const struct tls_crt_list, link)->name);
	}
}

/* --- add --- */

static void
cannot_edit(struct admin_conn *c, const char *why)
{
	admin_msg(c, ADMIN_ERR, "Can't edit the crt-list: %s", why);
}

/* One line, of the payload or of the command's word. 0, or -1 after a message. */
static int
parse_added(struct admin_conn *c, char *word, struct tls_list_line *line)
{
	char *text = c->payload ? c->payload : word, why[TLS_WHY_MAX];
	char *end = strchr(text, '\n');

	memset(line, 0, sizeof(*line));
	if (end && end[1]) {
		cannot_edit(c, "only one line of payload is supported!");
		return -1;
	}
	if (tls_list_line_parse(text, line, why) == 0 && line->path)
		return 0;
	admin_msg(c, ADMIN_ERR, "Can't edit the crt-list: parsing [CLI:1]: %s",
		line->path ? why : "file must start with a cert");
	return -1;
}

/* Finds the certificate at the path of a line. NULL after a message. */
static struct tls_entry *
find_added(struct admin_conn *c, const struct tls_crt_list *list, const char *word)
{
	const struct tls_conf *conf = admin_tls_conf(c);
	char *path = tls_crt_path(&conf->files, word);
	struct tls_entry *e = path ? tls_store_find(&conf->certs, path) : NULL;
	size_t n = strlen(list->name);

	if (!e)
		admin_msg(c, ADMIN_ERR,
			"Can't edit the crt-list: certificate '%s' does not exist!",
			path ? path : word);
	else if (!e->cert)
		admin_msg(c, ADMIN_ERR, "Can't edit the crt-list: certificate '%s' is empty!",
			e->name);
	else if (list->is_directory && (strncmp(e->name, list->name, n) != 0 || e->name[n] != '/'))
		admin_msg(c, ADMIN_ERR,
			"Can't edit the crt-list: '%s' is a directory, certificate path '%s' must "
			"contain the directory path",
			list->name, e->name);
	else {
		mem_free(path);
		return e;
	}
	mem_free(path);
	return NULL;
}

/* NULL: none. */
static const struct tls_line *
find_list_line(struct admin_conn *c, const struct tls_crt_list *list, const struct tls_entry *e)
{
	const struct tls_bind *b = bind_of(c, list);

	list_each(it, &e->lines) {
		const struct tls_line *l = list_entry(it, const struct tls_line, same);

		if (l->bind == b && l->list == list)
			return l;
	}
	return NULL;
}

struct adding {
	struct tls_conf *conf;
	struct tls_crt_list *list;
	struct tls_entry *entry;
	const struct tls_list_line *line;
	char *why;
};

static int
add_to_bind(struct bind_conf *b, struct proxy *p unused, void *arg)
{
	const struct adding *a = arg;

	return tls_bind_names_list(b->tls, a->list)
		? tls_list_add_line(b->tls, a->conf, a->list, a->entry, a->line, a->why)
		: 0;
}

static int
remove_from_bind(struct bind_conf *b, struct proxy *p unused, void *arg)
{
	const struct adding *a = arg;

	tls_list_remove_line(b->tls, a->list, a->list->last, a->entry);
	return 0;
}

static void
insert_line(struct admin_conn *c, struct tls_crt_list *list, struct tls_entry *e,
	const struct tls_list_line *line)
{
	struct tls_change change = { .list = list, .listed = e };
	char why[TLS_WHY_MAX];
	struct adding a = { admin_tls_conf(c), list, e, line, why };
	unsigned int uses = 0;
	int r, is_known;

	list->last++;
	is_known = admin_tls_each_bind(c, add_to_bind, &a) == 0;
	r = is_known ? admin_tls_apply(c, &change, &uses, why) : -ERR_MISSING;
	if (r < 0) {
		(void)admin_tls_each_bind(c, remove_from_bind, &a);
		list->last--;
	}
	if (!is_known) {
		cannot_edit(c, why);
		return;
	}
	admin_severity(c, r < 0 ? ADMIN_ERR : ADMIN_NOTICE);
	sbuf_addf(&c->out, "Inserting certificate '%s' in crt-list '%s'", e->name, list->name);
	admin_tls_dots(c, uses);
	if (r < 0)
		sbuf_addf(&c->out, "\n%s.\nFailed!\n", why);
	else
		sbuf_adds(&c->out, "\nSuccess!\n");
	ocsp_updates_look(c->admin->process, e);
}

void
admin_cmd_add_ssl_crt_list(struct admin_conn *c, int argc, char **argv)
{
	struct tls_list_line line;
	struct tls_crt_list *list;
	struct tls_entry *e;

	if (argc < 1 || (argc < 2 && !c->payload)) {
		admin_msg(c, ADMIN_ERR,
			"'add ssl crtlist' expects a filename and a certificate name");
		return;
	}
	if (parse_added(c, argc > 1 ? argv[1] : NULL, &line) == 0) {
		list = tls_crt_lists_find_path(&admin_tls_conf(c)->crt_lists, argv[0]);
		if (!list || !bind_of(c, list))
			admin_msg(c, ADMIN_ERR,
				"Can't edit the crt-list: crt-list '%s' does not exist!", argv[0]);
		else if (list->is_directory && c->payload && (line.has_options || line.n_filters))
			cannot_edit(c, "a directory's certificates have no options and no names");
		else if ((e = find_added(c, list, line.path)) == NULL)
			;
		else if (list->is_directory && find_list_line(c, list, e))
			cannot_edit(c, "file already exists in this directory!");
		else
			insert_line(c, list, e, &line);
	}
	tls_settings_free(&line.own);
}

/* --- del --- */

struct deleting {
	struct admin_conn *c;
	const struct tls_crt_list *list;
	struct tls_entry *entry;
	unsigned int number;
	int is_leaving;
	int was_named;        /* a bind line that uses it as default was named */
};

static int
mark_in_bind(struct bind_conf *b, struct proxy *p unused, void *arg)
{
	const struct deleting *d = arg;

	list_each(it, &d->entry->lines) {
		struct tls_line *l = list_entry(it, struct tls_line, same);

		if (l->bind == b->tls && l->list == d->list && l->number == d->number)
			l->is_leaving = d->is_leaving;
	}
	return 0;
}

static int
free_in_bind(struct bind_conf *b, struct proxy *p unused, void *arg)
{
	const struct deleting *d = arg;

	tls_list_remove_line(b->tls, d->list, d->number, d->entry);
	return 0;
}

/* Reports a bind line that the certificate is the default of: its clients that ask for no known
 * name would be left without one. Returns 0. */
static int
name_if_default(struct bind_conf *b, struct proxy *p unused, void *arg)
{
	struct deleting *d = arg;

	list_each(it, &d->entry->lines) {
		const struct tls_line *l = list_entry(it, const struct tls_line, same);

		if (l->bind != b->tls || l->list != d->list || l->number != d->number ||
			!l->is_default || (b->tls->set.flags & TLS_STRICT_SNI))
			continue;
		if (!d->was_named++)
			admin_msg(d->c, ADMIN_ERR,
				"Can't delete the entry: certificate '%s' cannot be deleted, it is "
				"used as default certificate by the following frontends:",
				l->entry->name);
		sbuf_addf(&d->c->out, "\t- %s:%u\n",
			b->where.file ? b->where.file->name : "", b->where.line);
	}
	return 0;
}

/* Returns the number of the line to remove: the one that was given, or that of the only line with
 * the certificate. 0 after a message. */
static int
find_number(struct admin_conn *c, struct deleting *d, unsigned int asked, int is_asked)
{
	const struct tls_bind *b = bind_of(c, d->list);
	unsigned int n = 0, is_right = 0;
	struct sbuf all;

	sbuf_init(&all, 0);
	list_each(it, &d->entry->lines) {
		const struct tls_line *l = list_entry(it, const struct tls_line, same);

		if (l->bind != b || l->list != d->list)
			continue;
		sbuf_addf(&all, "%s%u", n++ ? ", " : "", l->number);
		is_right |= is_asked && l->number == asked;
		d->number = is_asked ? asked : l->number;
	}
	if (!n)
		admin_msg(c, ADMIN_ERR,
			"Can't delete the entry: certificate '%s' can't be found in the crt-list!",
			d->entry->name);
	else if (!is_asked && n > 1)
		admin_msg(c, ADMIN_ERR,
			"Can't delete the entry: found the certificate '%s' in several entries, "
			"please specify a line number preceded by colons (%s)!",
			d->entry->name, all.p);
	else if (is_asked && !is_right)
		admin_msg(c, ADMIN_ERR,
			"Can't delete the entry: found a certificate '%s' but the line number is "
			"incorrect, please specify a correct line number preceded by colons (%s)!",
			d->entry->name, all.p);
	sbuf_fini(&all);
	return n && (is_asked ? is_right : n == 1);
}

static void
delete_line(struct admin_conn *c, struct deleting *d)
{
	struct tls_change change = { .list = d->list, .listed = d->entry };
	char why[TLS_WHY_MAX];
	unsigned int uses;

	(void)admin_tls_each_bind(c, name_if_default, d);
	if (d->was_named) {
		sbuf_addc(&c->out, '\n');
		return;
	}
	d->is_leaving = 1;
	(void)admin_tls_each_bind(c, mark_in_bind, d);
	if (admin_tls_apply(c, &change, &uses, why) < 0) {
		d->is_leaving = 0;
		(void)admin_tls_each_bind(c, mark_in_bind, d);
		admin_msg(c, ADMIN_ERR, "Can't delete the entry: %s", why);
		return;
	}
	(void)admin_tls_each_bind(c, free_in_bind, d);
	admin_msg(c, ADMIN_NOTICE, "Entry '%s' deleted in crtlist '%s'!", d->entry->name,
		d->list->name);
}

/* The number behind the last colon of <certificate>:<number>, unless the whole is a certificate.
 * 1: there is one; 0: none; -1: it is not valid. */
static int
split_number(const struct tls_store *s, char *name, unsigned int *number)
{
	char *colon = tls_store_find(s, name) ? NULL : strrchr(name, ':'), *end;
	unsigned long n;

	if (!colon)
		return 0;
	n = strtoul(colon + 1, &end, 10);
	if (end == colon + 1 || *end || n > UINT32_MAX)
		return -1;
	*number = (unsigned int)n;
	*colon = '\0';
	return 1;
}

void
admin_cmd_del_ssl_crt_list(struct admin_conn *c, int argc, char **argv)
{
	const struct tls_conf *conf = admin_tls_conf(c);
	struct deleting d = { .c = c };
	unsigned int number = 0;
	int is_asked;

	if (argc < 2) {
		admin_msg(c, ADMIN_ERR,
			"'del ssl crtlist' expects a filename and a certificate name");
		return;
	}
	d.list = tls_crt_lists_find_path(&conf->crt_lists, argv[0]);
	is_asked = split_number(&conf->certs, argv[1], &number);
	d.entry = tls_store_find(&conf->certs, argv[1]);
	if (is_asked < 0)
		admin_msg(c, ADMIN_ERR,
			"Can't delete the entry: wrong line number after colons in '%s'!", argv[1]);
	else if (!d.list || !bind_of(c, d.list))
		admin_msg(c, ADMIN_ERR, "Can't delete the entry: crt-list '%s' does not exist!",
			argv[0]);
	else if (!d.entry)
		admin_msg(c, ADMIN_ERR,
			"Can't delete the entry: certificate '%s' does not exist!", argv[1]);
	else if (find_number(c, &d, number, is_asked))
		delete_line(c, &d);
}
