/* Reads the application's keywords from text, for tests of the files that own them. */
#ifndef TESTS_UNIT_APP_WORLD_H
#define TESTS_UNIT_APP_WORLD_H

#include <stdlib.h>
#include <string.h>

#include "app/config/config.h"
#include "base/mem.h"
#include "base/sys.h"
#include "cfg/reader.h"

static struct config cfg;

/* A configuration with all modules registered and an empty environment. */
static inline int
world_open(void **state)
{
	static const char *const none[] = { NULL };

	(void)state;
	return config_init(&cfg, none);
}

static inline int
world_close(void **state)
{
	(void)state;
	config_fini(&cfg);
	return 0;
}

/* Reads lines of the section global: 0, or -1 when one was rejected. */
static inline int
world_global(const char *lines)
{
	struct cfg_reader r;
	struct cfg_facts facts;
	struct cfg_reader_opts opts = { .root = &cfg, .registry = &cfg.registry, .diag = &cfg.diag,
					.env = &cfg.env, .facts = &facts };
	size_t len = strlen(lines) + 16;
	char *text = mem_alloc(len);
	unsigned before = cfg.diag.count[CFG_ALERT];

	if (!text)
		return -1;
	snprintf(text, len, "global\n%s\n", lines);
	config_facts(&cfg, &facts);
	cfg_reader_init(&r, &opts);
	(void)cfg_reader_text(&r, "t.cfg", text, strlen(text));
	(void)cfg_reader_end(&r);
	cfg_reader_fini(&r);
	mem_free(text);
	/* Errors of earlier lines still count: only the new ones are checked. */
	return cfg.diag.count[CFG_ALERT] > before ? -1 : 0;
}

/* The text of the diagnostic that the last lines made or extended; "" for none. */
static inline const char *
world_diagnostic(void)
{
	const struct cfg_file *last = cfg.diag.nfile ? cfg.diag.file[cfg.diag.nfile - 1] : NULL;

	for (unsigned i = cfg.diag.nentry; i-- > 0;) {
		const struct cfg_diag_entry *e = &cfg.diag.entry[i];

		if (!e->places.n || e->places.at[e->places.n - 1].file == last)
			return e->text;
	}
	return "";
}

#endif
