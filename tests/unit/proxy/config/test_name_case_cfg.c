/* Pairs of the section global; HAProxy refuses the same ones. */

#include <stdlib.h>
#include <unistd.h>

#include "proxy/config/name_case_cfg.h"
#include "unit/proxy/proxies_rig.h"

static int
begin_global(struct cfg_ctx *ctx)
{
	ctx->obj = ctx->root;
	return 0;
}

static const struct cfg_section sections[] = {
	{ .name = "global", .bit = CFG_GLOBAL, .begin = begin_global },
	{ 0 },
};
static const struct cfg_module section_module = { .name = "a section", .sections = sections };

/* The result of the lines, of which the first reported one is in w->printed. */
static void
load(struct world *w, const char *lines)
{
	world_load(w, "");
	cfg_reader_fini(&w->reader);
	assert_int_equal(cfg_registry_add(&w->registry, &section_module), 0);
	assert_int_equal(cfg_registry_add(&w->registry, &name_case_cfg_module), 0);
	world_open_reader(w);
	w->result = cfg_reader_text(&w->reader, "t.cfg", lines, strlen(lines));
	w->result |= cfg_reader_end(&w->reader);
	world_print(w);
}

static void
reports(const char *lines, int result, const char *what)
{
	struct world w;

	load(&w, lines);
	if (w.result != result || !strstr(w.printed, what))
		fail_msg("%s\n=> %d\n%s\nwithout: %s", lines, w.result, w.printed, what);
	world_fini(&w);
}

static void
pairs_are_checked(void **state)
{
	(void)state;
	reports("global\n h1-case-adjust host HoSt\n h1-case-adjust a A\n", 0, "");
	reports("global\n h1-case-adjust host HoSt\n h1-case-adjust host HOST\n", -1,
		"duplicate entry 'host'");
	reports("global\n h1-case-adjust host hosts\n", -1, "must not differ except in case");
	reports("global\n h1-case-adjust Host HOST\n", 0, "must be in lower case");
	reports("global\n h1-case-adjust host\n", -1, "<from> <to>");
	reports("global\n h1-case-adjust-file\n", -1, "<file>");
	reports("global\n h1-case-adjust-file /nope/x\n", -1, "/nope/x");
}

static void
files_have_pairs(void **state)
{
	static const struct {
		const char *text, *says;
		int result;
	} files[] = {
		{ "# a b\n\n  host\t HoSt \na A\r\nb B", "", 0 },
		{ "a A\nhost\n", "line 2 of the file", -1 },
		{ "host HOST x\n", "must not differ", -1 },
		{ "a A\na A\n", "duplicate entry 'a' (line 2", -1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		char path[] = "/tmp/names.XXXXXX", lines[128];
		int fd = mkstemp(path);

		assert_true(fd >= 0);
		assert_int_equal(write(fd, files[i].text, strlen(files[i].text)),
			strlen(files[i].text));
		(void)close(fd);
		/* The second one replaces the first. */
		(void)snprintf(lines, sizeof(lines),
			"global\n h1-case-adjust-file %s\n h1-case-adjust-file %s\n", path, path);
		reports(lines, files[i].result, files[i].says);
		(void)unlink(path);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pairs_are_checked),
		cmocka_unit_test(files_have_pairs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
