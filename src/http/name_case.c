/* The case of names in heads of HTTP/1. Names differ from the written ones in their case only, so
 * that a head keeps its length. */
#include "http/name_case.h"

#include "base/array.h"
#include "base/err.h"
#include "base/mem.h"

struct cased_name {
	char *text;
	size_t len;
	int is_of_file;
};

void
name_case_init(struct name_case *c)
{
	*c = (struct name_case){ NULL, 0, 0 };
}

void
name_case_fini(struct name_case *c)
{
	for (unsigned int i = 0; i < c->n; i++)
		mem_free(c->name[i].text);
	mem_free(c->name);
	name_case_init(c);
}

static const struct cased_name *
find_case(const struct name_case *c, struct str name)
{
	for (unsigned int i = 0; i < c->n; i++)
		if (str_is_nocase((struct str){ c->name[i].text, c->name[i].len }, name))
			return &c->name[i];
	return NULL;
}

int
name_case_add(struct name_case *c, struct str to, int is_of_file)
{
	struct cased_name *p;
	char *text;

	if (find_case(c, to))
		return -ERR_EXISTS;
	p = array_grow(c->name, c->n, &c->cap, sizeof(*p));
	if (!p)
		return -ERR_NOMEM;
	c->name = p;
	text = mem_alloc(to.len + 1);
	if (!text)
		return -ERR_NOMEM;
	memcpy(text, to.p, to.len);
	text[to.len] = '\0';
	p[c->n++] = (struct cased_name){ text, to.len, is_of_file };
	return 0;
}

void
name_case_drop_file(struct name_case *c)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < c->n; i++) {
		if (c->name[i].is_of_file)
			mem_free(c->name[i].text);
		else
			c->name[n++] = c->name[i];
	}
	c->n = n;
}

/* The name at the start of a line. */
static void
adjust_line(const struct name_case *c, char *line, const char *end)
{
	const char *colon = memchr(line, ':', (size_t)(end - line));
	const struct cased_name *name =
		colon ? find_case(c, (struct str){ line, (size_t)(colon - line) }) : NULL;

	if (name)
		memcpy(line, name->text, name->len);
}

void
name_case_adjust(const struct name_case *c, char *head, size_t n)
{
	const char *end = head + n;
	char *lf = memchr(head, '\n', n);

	while (lf) {
		char *line = lf + 1;

		lf = memchr(line, '\n', (size_t)(end - line));
		/* The empty line. */
		if (!lf || lf - line < 2)
			return;
		adjust_line(c, line, lf);
	}
}
