/* The value of -S. Start of the master, one thread. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/master/master_cli.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/names.h"

/* Only the user of the master has access, unless `mode` permits more. */
#define MODE_DEFAULT 0600
#define VALUE_MAX 1024

struct bind_word {
	const char *name;
	int (*fn)(struct bind_conf *b, const char *value);
};

static int
take_mode(struct bind_conf *b, const char *value)
{
	char *end;
	unsigned long mode = strtoul(value, &end, 8);

	if (*end || end == value || mode == 0 || mode > 07777)
		return -ERR_RANGE;
	b->mode = (mode_t)mode;
	return 0;
}

static int
take_id(const char *value, unsigned int *out)
{
	char *end;
	unsigned long id = strtoul(value, &end, 10);

	if (*end || end == value || id >= UINT32_MAX)
		return -ERR_RANGE;
	*out = (unsigned int)id;
	return 0;
}

static int
take_uid(struct bind_conf *b, const char *value)
{
	return take_id(value, &b->uid);
}

static int
take_gid(struct bind_conf *b, const char *value)
{
	return take_id(value, &b->gid);
}

static int
take_user(struct bind_conf *b, const char *value)
{
	return names_user(value, &b->uid);
}

static int
take_group(struct bind_conf *b, const char *value)
{
	return names_group(value, &b->gid);
}

static int
take_level(struct bind_conf *b, const char *value)
{
	static const char *const names[] = { "user", "operator", "admin" };

	for (unsigned int i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(value, names[i]) == 0) {
			b->level = (enum bind_level)i;
			return 0;
		}
	return -ERR_UNKNOWN;
}

static const struct bind_word words[] = {
	{ "mode", take_mode },   { "uid", take_uid },     { "gid", take_gid },
	{ "user", take_user },   { "group", take_group }, { "level", take_level },
};

static int
take_option(struct bind_conf *b, const char *name, const char *value, char *why, size_t len)
{
	for (unsigned int i = 0; i < ARRAY_LEN(words); i++) {
		if (strcmp(words[i].name, name) != 0)
			continue;
		if (value && words[i].fn(b, value) == 0)
			return 0;
		(void)snprintf(why, len, "'%s' : invalid value '%s'", name, value ? value : "");
		return -ERR_INVAL;
	}
	(void)snprintf(why, len, "'%s' is not supported", name);
	return -ERR_UNSUPPORTED;
}

/* The end of the word at *at is overwritten; NULL: there is none. */
static char *
cut_word(char **at)
{
	char *word = *at, *comma = word ? strchr(word, ',') : NULL;

	if (comma)
		*comma = '\0';
	*at = comma ? comma + 1 : NULL;
	return word;
}

static int
take_address(struct listener *ln, const char *text, const char **why)
{
	struct addr_spec spec;
	int r = addr_parse(text, ADDR_WANT_PORT | ADDR_ALLOW_FD | ADDR_ALLOW_UNIX, &spec, why);

	if (r)
		return r;
	if (spec.kind == ADDR_INET && !addr_is_loopback(&spec.addr)) {
		*why = "other hosts could use it: a path or a loopback address is expected";
		return -ERR_PERM;
	}
	ln->addr = spec.addr;
	ln->inherit_fd = spec.fd;
	if (spec.kind == ADDR_INET)
		addr_set_port(&ln->addr, spec.port_lo);
	return 0;
}

int
master_cli_parse(struct master_cli *c, const char *value, char *why, size_t len)
{
	char text[VALUE_MAX], *at = text, *word;
	const char *reason = "";
	int r;

	c->bind = bind_conf_new();
	if (!c->bind)
		return -ERR_NOMEM;
	c->bind->level = BIND_ADMIN;
	c->bind->mode = MODE_DEFAULT;
	listener_init(&c->listener, c->bind);
	if (snprintf(text, sizeof(text), "%s", value) >= (int)sizeof(text)) {
		(void)snprintf(why, len, "too long");
		return -ERR_RANGE;
	}
	r = take_address(&c->listener, cut_word(&at), &reason);
	if (r) {
		(void)snprintf(why, len, "%s", reason);
		return r;
	}
	while (!r && (word = cut_word(&at)) != NULL)
		r = take_option(c->bind, word, cut_word(&at), why, len);
	return r;
}
