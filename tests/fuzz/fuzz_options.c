/* The command line: the input is words with a NUL after each. The result is a plan whose strings
 * are those words and whose numbers are in range, or an error with a text. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "app/config/options.h"

enum { WORDS_MAX = OPTIONS_FILES_MAX + 8 };

static void
expect(int ok)
{
	if (!ok)
		abort();
}

static void
is_plausible(const struct options *o)
{
	expect(o->n_files <= OPTIONS_FILES_MAX);
	for (unsigned int i = 0; i < o->n_files; i++)
		expect(o->files[i] != NULL);
	expect(o->progname && o->progname[0]);
	expect(o->maxconn >= 0 && o->maxconn <= OPTIONS_CONN_MAX);
	expect(o->proxy_maxconn >= 0 && o->proxy_maxconn <= OPTIONS_CONN_MAX);
	expect(o->memory_mb >= 0 && o->memory_mb <= OPTIONS_MEM_MAX);
	expect(o->n_hints < sizeof(o->hints) && strlen(o->hints) == o->n_hints);
	if (o->action == OPTIONS_COND)
		expect(o->cond != NULL);
	if (o->action == OPTIONS_RUN || o->action == OPTIONS_CHECK)
		expect(o->n_files > 0);
	if (o->action == OPTIONS_KEYWORDS)
		expect(o->dump >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct options o;
	static char *argv[WORDS_MAX + 1];
	char *text = malloc(size + 1);
	char why[32]; /* short, so that it is truncated */
	int argc = 0;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	for (size_t at = 0; at < size && argc < WORDS_MAX; at += strlen(text + at) + 1)
		argv[argc++] = text + at;
	argv[argc] = NULL;
	if (options_parse(&o, argc, argv, why, sizeof(why)) == 0)
		is_plausible(&o);
	else
		expect(why[0] != '\0' && strlen(why) < sizeof(why));
	free(text);
	return 0;
}
