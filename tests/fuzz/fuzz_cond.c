/* Conditions: the input is the argument of -cc. The result is true, false or an error with a text
 * and a place inside the expression. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cfg/cond.h"

static const char *
lookup(void *arg, const char *name)
{
	(void)arg;
	return strcmp(name, "X") == 0 ? "a b) && (c" : strcmp(name, "E") == 0 ? "" : NULL;
}

static const char *const names[] = { "THREAD", "EPOLL", NULL };
static const struct cfg_facts facts = {
	.version = "3.4.0",
	.ssl_name = "OpenSSL 3.0.17",
	.ssl_version = "3.0.17",
	.features = names,
	.enabled = names,
	.getenv = lookup,
};

static void
expect(int ok)
{
	if (!ok)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct cfg_cond_err err = { 0 };
	int v;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	v = cfg_cond_eval(&facts, text, &err);
	expect(v == 0 || v == 1 || (v == -1 && err.text[0] && err.at <= strlen(text)));
	v = cfg_cond_line(&facts, text, &err);
	expect(v == 0 || v == 1 || (v == -1 && err.text[0]));
	free(text);
	return 0;
}
