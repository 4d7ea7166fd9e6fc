#include "sim/process_world.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCRIPT "--- script\n"

static int
name_order(const void *a, const void *b)
{
	return strcmp(a, b);
}

unsigned int
process_scenario_names(char (*names)[PROCESS_SCENARIO_NAME], unsigned int most)
{
	const char *only = getenv("SCENARIO");
	DIR *d = opendir(PROCESS_SCENARIO_FOLDER);
	const struct dirent *e;
	unsigned int n = 0;

	while (d && n < most && (e = readdir(d))) {
		size_t len = strlen(e->d_name);
		char name[PROCESS_SCENARIO_NAME];

		if (len < 5 || len - 4 >= sizeof(name) || strcmp(e->d_name + len - 4, ".txt") != 0)
			continue;
		memcpy(name, e->d_name, len - 4);
		name[len - 4] = '\0';
		if (!only || strcmp(name, only) == 0)
			memcpy(names[n++], name, len - 3);
	}
	if (d)
		closedir(d);
	qsort(names, n, sizeof(*names), name_order);
	return n;
}

static int
fail_with(struct process_scenario *sc, const char *why)
{
	snprintf(sc->why, sizeof(sc->why), "%s: %s", sc->path, why);
	return -1;
}

int
process_scenario_read(struct process_scenario *sc, const char *name)
{
	FILE *f;
	char *end;
	size_t n;

	snprintf(sc->path, sizeof(sc->path), "%s/%s.txt", PROCESS_SCENARIO_FOLDER, name);
	f = fopen(sc->path, "r");
	if (!f)
		return fail_with(sc, strerror(errno));
	n = fread(sc->text, 1, sizeof(sc->text) - 1, f);
	fclose(f);
	sc->text[n] = '\0';
	memcpy(sc->copy, sc->text, n + 1);
	sc->config = sc->copy;
	sc->script = strstr(sc->copy, SCRIPT);
	if (!sc->script)
		return fail_with(sc, "there is no line '--- script'");
	*sc->script = '\0';
	sc->script += strlen(SCRIPT);
	sc->trace = "";
	end = strstr(sc->script, PROCESS_SCENARIO_TRACE);
	if (end) {
		*end = '\0';
		sc->trace = end + strlen(PROCESS_SCENARIO_TRACE);
	}
	return 0;
}

int
process_scenario_write(struct process_scenario *sc, const char *trace)
{
	const char *end = strstr(sc->text, PROCESS_SCENARIO_TRACE);
	size_t n = end ? (size_t)(end - sc->text) : strlen(sc->text);
	FILE *f = fopen(sc->path, "w");

	if (!f)
		return fail_with(sc, strerror(errno));
	fprintf(f, "%.*s%s%s", (int)n, sc->text, PROCESS_SCENARIO_TRACE, trace);
	return fclose(f) == 0 ? 0 : fail_with(sc, strerror(errno));
}
