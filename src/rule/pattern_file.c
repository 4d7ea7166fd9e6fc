#include "rule/pattern_file.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "cfg/files.h"

struct loaded {
	struct list link;
	struct pattern_file_use use; /* its path is ours */
	struct pattern_set set;
};

void
pattern_files_init(struct pattern_files *f, struct sys *sys)
{
	memset(f, 0, sizeof(*f));
	list_init(&f->all);
	f->sys = sys;
}

static void
forget(struct loaded *l)
{
	pattern_set_fini(&l->set);
	mem_free((char *)(uintptr_t)l->use.path);
	mem_free(l);
}

void
pattern_files_fini(struct pattern_files *f)
{
	list_each_safe(it, &f->all) {
		list_remove(it);
		forget(list_entry(it, struct loaded, link));
	}
}

/* --- lines --- */

static int
is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static struct str
trim_end(struct str s)
{
	while (s.len && is_blank(s.p[s.len - 1]))
		s.len--;
	return s;
}

/* The next line of *rest, without its end and the blanks before it; a comment is empty. */
static struct str
next_line(struct str *rest)
{
	const char *end = memchr(rest->p, '\n', rest->len);
	struct str line = { rest->p, end ? (size_t)(end - rest->p) : rest->len };

	rest->p += line.len + (end != NULL);
	rest->len -= line.len + (end != NULL);
	if (line.len && line.p[line.len - 1] == '\r')
		line.len--;
	/* Only where it stands first: behind a blank it is a pattern. */
	if (line.len && line.p[0] == '#')
		line.len = 0;
	while (line.len && is_blank(*line.p)) {
		line.p++;
		line.len--;
	}
	return line;
}

static int
add_line(struct pattern_set *p, struct str line, const struct pattern_file_use *use,
	struct rule_err *why)
{
	struct str key = line, value = { NULL, 0 };
	size_t n = 0;

	if (memchr(line.p, '\0', line.len)) {
		snprintf(why->text, sizeof(why->text), "a NUL byte");
		return -ERR_SYNTAX;
	}
	if (use->two_columns) {
		while (n < line.len && !is_blank(line.p[n]))
			n++;
		key.len = n;
		while (n < line.len && is_blank(line.p[n]))
			n++;
		value = trim_end((struct str){ line.p + n, line.len - n });
	}
	if (use->out == SAMPLE_ANY)
		value.p = NULL;
	return pattern_set_add(p, key, PATTERN_EQ, use->flags, value, why);
}

int
pattern_file_parse(struct pattern_set *p, struct str text, const struct pattern_file_use *use,
	struct rule_err *why)
{
	struct rule_err reason = { 0 };
	unsigned long number = 0;
	struct str line;
	int rc = 0;

	while (rc == 0 && text.len) {
		line = next_line(&text);
		number++;
		if (line.len)
			rc = add_line(p, line, use, &reason);
	}
	if (rc < 0)
		snprintf(why->text, sizeof(why->text), "line %lu of '%.80s': %.90s", number,
			use->path, reason.text);
	why->at = 0;
	return rc;
}

/* --- files --- */

static int
is_same(const struct pattern_file_use *a, const struct pattern_file_use *b)
{
	return a->method == b->method && a->out == b->out && a->flags == b->flags &&
		a->two_columns == b->two_columns && strcmp(a->path, b->path) == 0;
}

static const struct pattern_set *
refuse(struct pattern_files *f, const char *path, long reason)
{
	f->why.at = 0;
	snprintf(f->why.text, sizeof(f->why.text), "cannot read '%.120s': %.60s", path,
		err_text((int)reason));
	return NULL;
}

static struct loaded *
make(const struct pattern_file_use *use)
{
	struct loaded *l = mem_zalloc(sizeof(*l));

	if (!l)
		return NULL;
	pattern_set_init(&l->set, use->method, use->out);
	l->use = *use;
	l->use.path = mem_strdup(use->path);
	if (!l->use.path) {
		forget(l);
		return NULL;
	}
	return l;
}

const struct pattern_set *
pattern_files_get(struct pattern_files *f, const struct pattern_file_use *use)
{
	struct loaded *l;
	char *text;
	size_t len;
	long rc;

	list_each(it, &f->all) {
		l = list_entry(it, struct loaded, link);
		if (is_same(&l->use, use))
			return &l->set;
	}
	rc = f->sys ? cfg_file_read(f->sys, use->path, PATTERN_FILE_MAX, &text, &len) : -ERR_PERM;
	if (rc < 0)
		return refuse(f, use->path, rc);
	l = make(use);
	if (!l) {
		mem_free(text);
		return refuse(f, use->path, -ERR_NOMEM);
	}
	rc = pattern_file_parse(&l->set, (struct str){ text, len }, use, &f->why);
	mem_free(text);
	if (rc < 0) {
		forget(l);
		return NULL;
	}
	list_append(&f->all, &l->link);
	return &l->set;
}
