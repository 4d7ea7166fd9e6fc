/* Looks names up in the tables of fetches, converters and actions. Filled by the main thread
 * at start, only read after that. */
#include "rule/sample/vocab.h"

#include <string.h>

#include "base/err.h"
#include "cfg/suggest.h"

int
rule_vocab_add_fetches(struct rule_vocab *v, const struct rule_fetch *table)
{
	if (v->n_fetch == RULE_TABLES_MAX)
		return -ERR_RANGE;
	v->fetch[v->n_fetch++] = table;
	return 0;
}

int
rule_vocab_add_convs(struct rule_vocab *v, const struct rule_conv *table)
{
	if (v->n_conv == RULE_TABLES_MAX)
		return -ERR_RANGE;
	v->conv[v->n_conv++] = table;
	return 0;
}

int
rule_vocab_add_actions(struct rule_vocab *v, const struct rule_action *table)
{
	if (v->n_action == RULE_TABLES_MAX)
		return -ERR_RANGE;
	v->action[v->n_action++] = table;
	return 0;
}

static int
is_word_named(struct str name, const char *candidate)
{
	return strncmp(name.p, candidate, name.len) == 0 && candidate[name.len] == '\0';
}

const struct rule_fetch *
rule_find_fetch(const struct rule_vocab *v, struct str name)
{
	for (unsigned int i = 0; i < v->n_fetch; i++)
		for (const struct rule_fetch *f = v->fetch[i]; f->name; f++)
			if (is_word_named(name, f->name))
				return f;
	return NULL;
}

const struct rule_conv *
rule_find_conv(const struct rule_vocab *v, struct str name)
{
	for (unsigned int i = 0; i < v->n_conv; i++)
		for (const struct rule_conv *c = v->conv[i]; c->name; c++)
			if (is_word_named(name, c->name))
				return c;
	return NULL;
}

/* --- ACLs --- */

static const char *const endings[] = { "beg", "dir", "dom", "end", "len", "reg", "sub" };

const struct rule_fetch *
rule_find_acl_fetch(const struct rule_vocab *v, struct str name, const char **match)
{
	const struct rule_fetch *f = rule_find_fetch(v, name);

	*match = NULL;
	if (f)
		*match = f->match;
	for (size_t i = 0; !f && i < ARRAY_LEN(endings) && name.len > 4; i++) {
		if (name.p[name.len - 4] != '_' ||
			memcmp(name.p + name.len - 3, endings[i], 3) != 0)
			continue;
		f = rule_find_fetch(v, (struct str){ name.p, name.len - 4 });
		if (f && !f->derives)
			f = NULL;
		*match = endings[i];
	}
	return f && f->acl ? rule_find_fetch(v, str_of(f->acl)) : f;
}

/* --- unknown names --- */

static int
copy_name(struct str name, char *out, size_t cap)
{
	if (name.len >= cap)
		return -1;
	memcpy(out, name.p, name.len);
	out[name.len] = '\0';
	return 0;
}

const char *
rule_suggest_fetch(const struct rule_vocab *v, struct str name)
{
	char given[CFG_SUGGEST_MAX + 1];
	struct cfg_suggest s;

	if (copy_name(name, given, sizeof(given)))
		return NULL;
	cfg_suggest_init(&s, given);
	for (unsigned int i = 0; i < v->n_fetch; i++)
		for (const struct rule_fetch *f = v->fetch[i]; f->name; f++)
			cfg_suggest_offer(&s, f->name);
	return s.best;
}

const char *
rule_suggest_conv(const struct rule_vocab *v, struct str name)
{
	char given[CFG_SUGGEST_MAX + 1];
	struct cfg_suggest s;

	if (copy_name(name, given, sizeof(given)))
		return NULL;
	cfg_suggest_init(&s, given);
	for (unsigned int i = 0; i < v->n_conv; i++)
		for (const struct rule_conv *c = v->conv[i]; c->name; c++)
			cfg_suggest_offer(&s, c->name);
	return s.best;
}

static const char *const known_fetches[] = {
#define KNOWN_FETCH(name) name,
#define KNOWN_CONV(name)
#include "rule/sample/known.tbl.h"
#undef KNOWN_FETCH
#undef KNOWN_CONV
};

static const char *const known_convs[] = {
#define KNOWN_FETCH(name)
#define KNOWN_CONV(name) name,
#include "rule/sample/known.tbl.h"
#undef KNOWN_FETCH
#undef KNOWN_CONV
};

/* Scripts name their own fetches, converters, actions and services. */
int
rule_is_of_lua(struct str name)
{
	return name.len > 4 && memcmp(name.p, "lua.", 4) == 0;
}

int
rule_is_known_fetch(struct str name)
{
	for (size_t i = 0; i < ARRAY_LEN(known_fetches); i++)
		if (is_word_named(name, known_fetches[i]))
			return 1;
	return rule_is_of_lua(name);
}

int
rule_is_known_conv(struct str name)
{
	for (size_t i = 0; i < ARRAY_LEN(known_convs); i++)
		if (is_word_named(name, known_convs[i]))
			return 1;
	return rule_is_of_lua(name);
}
