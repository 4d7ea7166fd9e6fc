/* Arguments of show stat: [domain proxy] [<iid|proxy> <type> <sid>] and words in any order. On the
 * first worker. */
#include "app/admin/stat_args.h"

#include <string.h>

#include "app/admin/admin_int.h"
#include "cfg/value.h"

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

int
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
