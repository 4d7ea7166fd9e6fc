/* The action auth-request: its arguments; what it does is played from outside (tests/system) and in
 * virtual time (tests/sim/process/auth_request.txt). */
#include "unit/proxy/proxies_rig.h"

#define RULE "http-request auth-request a /check "

static const struct {
	const char *line;
	const char *error; /* "": none */
} lines[] = {
	{ RULE, "" },
	{ RULE "if { path_beg /private }", "" },
	{ RULE "method GET header Cookie header Authorization copy X-User copy Set-Cookie", "" },
	{ RULE "login /in?rd=%[url] on-error 503 unless { path /in }", "" },
	{ "http-request auth-request a /check?group=%[path,field(2,/)]", "" },
	{ "http-request auth-request a", "expects <backend> <path>" },
	{ "http-request auth-request a check", "'check' is no path: it begins with '/'" },
	{ "http-request auth-request a /%[nothing]", "unknown fetch" },
	{ "http-request auth-request b /check", "unable to find backend 'b'" },
	{ "http-request auth-request l /check", "'l' is a listen section" },
	{ "http-request auth-request t /check", "backend 't' is not in mode http" },
	{ "http-request auth-request loop /check", "backend 'loop' has rules auth-request itself" },
	{ "http-request auth-request inherits /check",
		"backend 'inherits' has rules auth-request itself" },
	{ RULE "method POST", "method 'POST': there are GET and HEAD" },
	{ RULE "method", "expects <backend> <path>" },
	{ RULE "header Content-Type", "header 'Content-Type': such fields are never sent" },
	{ RULE "header if-none-match", "header 'if-none-match': such fields are never sent" },
	{ RULE "header Connection", "header 'Connection': such fields are never sent" },
	{ RULE "header a:b", "cannot be the name of a header" },
	{ RULE "copy Content-Length", "copy 'Content-Length': no response sets this field" },
	{ RULE "copy Host", "copy 'Host': no response sets this field" },
	{ RULE "on-error 200", "on-error" },
	{ RULE "on-error 418", "there is no page for status 418" },
	{ RULE "maybe", "expects either 'if' or 'unless'" },
	{ "http-response auth-request a /check", "is not for 'http-response'" },
	{ "tcp-request content auth-request a /check", "is not for 'tcp-request content'" },
};

static void
load(struct world *w, const char *line)
{
	char text[2048];

	(void)snprintf(text, sizeof(text),
		WORLD_DEFAULTS " mode http\n"
			       "frontend f\n bind 127.0.0.1:1\n %s\n"
			       "backend a\n server s 127.0.0.1:2\n"
			       "backend loop\n http-request auth-request a /check\n"
			       " server s 127.0.0.1:2\n"
			       "listen l\n bind 127.0.0.1:3\n server s 127.0.0.1:2\n"
			       "backend t\n mode tcp\n server s 127.0.0.1:2\n"
			       "defaults rules\n mode http\n timeout server 1s\n"
			       " timeout connect 1s\n"
			       " http-request auth-request a /check\n"
			       "backend inherits from rules\n server s 127.0.0.1:2\n",
		line);
	world_load(w, text);
}

static void
arguments_are_checked(void **st)
{
	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		struct world w;

		load(&w, lines[i].line);
		if (lines[i].error[0] ? !strstr(w.printed, lines[i].error) : w.printed[0] != '\0')
			fail_msg("%s\n=> %s\nexpected: %s", lines[i].line, w.printed,
				lines[i].error);
		world_fini(&w);
	}
}

/* More names than there is room for are an error, of both kinds. */
static void
names_are_bounded(void **st)
{
	static const char *const words[] = { " header n", " copy n" };

	(void)st;
	for (size_t kind = 0; kind < ARRAY_LEN(words); kind++)
		for (unsigned int n = 32; n <= 33; n++) {
			char line[1024] = RULE;
			struct world w;

			for (unsigned int i = 0; i < n; i++)
				(void)snprintf(line + strlen(line), sizeof(line) - strlen(line),
					"%s%u", words[kind], i);
			load(&w, line);
			assert_int_equal(
				!!strstr(w.printed, "there can be no more than 32"), n == 33);
			world_fini(&w);
		}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(arguments_are_checked),
		cmocka_unit_test(names_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
