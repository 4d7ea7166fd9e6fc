#include "unit/rule/action_rig.h"

#include <stdlib.h>
#include <unistd.h>

static struct action_rig r;
static char map[64], acl[64];

static void
write_file(char *path, const char *text)
{
	int fd;

	snprintf(path, sizeof(map), "/tmp/tacit-act-map-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

static int
setup(void **state)
{
	(void)state;
	action_rig_init(&r);
	write_file(map, "a 1\nb 2\na 3\n");
	write_file(acl, "x\ny\n");
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	action_rig_fini(&r);
	unlink(map);
	unlink(acl);
	return 0;
}

/* Rules in which @M and @A stand for the names of the files. */
static const char *
lines(const char *text)
{
	static char out[4096];
	size_t n = 0;

	for (; *text; text++) {
		const char *file = text[0] != '@' ? NULL : text[1] == 'M' ? map : acl;

		if (!file) {
			out[n++] = *text;
			continue;
		}
		n += (size_t)sprintf(out + n, "%s", file);
		text++;
	}
	out[n] = '\0';
	return out;
}

#define REQ "GET / HTTP/1.1\r\nHost: h\r\nK: a\r\nV: seven\r\nN: new\r\nY: y"

/* After these rules: the map's values for field K and for N, and whether the ACL contains field
 * Y. */
static void
leaves(const char *what, const char *want)
{
	static const char look[] = "http-request set-header L "
				   "%[rq(K),map(@M,none)],%[rq(N),map(@M,none)]\n"
				   "http-request set-header Z yes if { rq(Y) -f @A }\n"
				   "http-request set-header Z no if !{ rq(Y) -f @A }\n";
	char text[2048], got[64];

	snprintf(text, sizeof(text), "%s\n%s", what, look);
	action_rig_good(&r, lines(text));
	action_rig_heads(&r, REQ, NULL);
	assert_int_equal(action_rig_run(&r, RULE_HTTP_REQUEST), RULE_CONT);
	snprintf(got, sizeof(got), "%.*s %.*s",
		(int)r.req.field[http_find(&r.req, STR("L"), 0)].value.len,
		r.req.field[http_find(&r.req, STR("L"), 0)].value.p,
		(int)r.req.field[http_find(&r.req, STR("Z"), 0)].value.len,
		r.req.field[http_find(&r.req, STR("Z"), 0)].value.p);
	assert_string_equal(got, want);
}

static void
test_changes(void **state)
{
	(void)state;
	leaves("", "1,none yes");
	leaves("http-request set-map(@M) %[rq(K)] %[rq(V)]", "seven,none yes");
	leaves("http-request set-map(@M) %[rq(N)] \"the %[rq(V)]\"", "1,the seven yes");
	leaves("http-request set-map(@M) a %[rq(none)]", ",none yes");
	leaves("http-request set-map(@M) %[rq(none)] x", "1,none yes");
	/* both entries */
	leaves("http-request del-map(@M) %[rq(K)]", "none,none yes");
	leaves("http-request del-map(@M) other", "1,none yes");
	leaves("http-request del-acl(@A) %[rq(Y)]", "1,none no");
	leaves("http-request del-acl(@A) y\nhttp-request add-acl(@A) %[rq(Y)]", "1,none yes");
	/* Not without its condition. */
	leaves("http-request set-map(@M) a 9 if { rq(Y) -f @A } { rq(Y) z }", "1,none yes");
	leaves("http-request set-map(@M) a 9 if { rq(Y) -f @A }", "9,none yes");
}

/* Rules that run later see the change, in whichever list they are. */
static void
test_places(void **state)
{
	(void)state;
	action_rig_good(&r, lines("http-response set-map(@M) a %[rs(S)]\n"
				  "http-response add-acl(@A) %[rs(S)]\n"
				  "http-after-response set-map(@M) b %[str(a),map(@M)]\n"
				  "http-after-response del-map(@M) c\n"
				  "http-after-response del-acl(@A) x\n"
				  "http-after-response set-header L %[str(b),map(@M)] if "
				  "{ rs(S) -f @A }\n"));
	action_rig_heads(&r, REQ, "HTTP/1.1 200 OK\r\nS: there");
	assert_int_equal(action_rig_run(&r, RULE_HTTP_RESPONSE), RULE_CONT);
	/* No memory of the arena stays in use. */
	assert_int_equal(arena_mark(&r.x.arena), 0);
	assert_int_equal(action_rig_run(&r, RULE_HTTP_AFTER_RESPONSE), RULE_CONT);
	assert_string_equal(
		action_rig_show(&r, &r.res), "HTTP/1.1 200 OK|S: there|L: there|");
	assert_null(pattern_ref_find(pattern_files_find(&r.files, acl), STR("x")));
}

/* A value that the map cannot have, and a text that does not fit: the rule has no effect. */
static void
test_refused(void **state)
{
	static const char text[] = "http-request set-map(@M) a %[rq(V)]\n"
				   "http-request set-header L %[rq(K),map_str_int(@M)]\n"
				   "http-request set-map(@M) %[rq(K)] 5\n";
	size_t cap = r.x.arena.cap;

	(void)state;
	action_rig_good(&r, lines(text));
	action_rig_heads(&r, REQ, NULL);
	assert_int_equal(action_rig_run(&r, RULE_HTTP_REQUEST), RULE_CONT);
	assert_int_equal(pattern_files_find(&r.files, map)->refused, 1);
	assert_string_equal(pattern_ref_find(pattern_files_find(&r.files, map), STR("a"))->value,
		"5");
	r.x.arena.cap = r.x.arena.used;
	assert_int_equal(action_rig_run(&r, RULE_HTTP_REQUEST), RULE_FINAL);
	r.x.arena.cap = cap;
	assert_int_equal(pattern_files_find(&r.files, map)->refused, 2);
}

static void
test_wrong(void **state)
{
	static const struct {
		const char *line, *says;
	} rows[] = {
		{ "http-request set-map a b", "is followed by '(...)'" },
		{ "http-request set-map(@M a b", "')' is missing" },
		{ "http-request set-map() a b", "the name of a file is missing" },
		{ "http-request set-map(@M) a", "expects <key fmt> <value fmt>" },
		{ "http-request del-map(@M)", "expects <key fmt>" },
		{ "http-request del-map(@M) a b", "found 'b'" },
		{ "http-request set-map(@M) %[nope] b", "nope" },
		{ "http-request \"del-acl(#0)\" a\nhttp-request deny if { rq(a) b }",
			"'#0' is not the name of a file" },
		{ "http-request add-acl(@M) a\nhttp-request set-uri %[rq(a),map(@M)]", "is a map" },
		{ "http-after-response add-acl(@A) a\nacl a rq(a) -f @A",
			"is not for 'http-after-response' rules" },
		{ "tcp-request connection set-map(@M) a b", "is not for" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		action_rig_refuses(&r, lines(rows[i].line), rows[i].says);
	/* Files that no rule changes keep their look-ups without a lock. */
	action_rig_good(&r, lines("http-request add-acl(@A) a if { rq(a) -f @A } "
				  "{ rq(b),map(@M) -m found }"));
	assert_true(pattern_files_find(&r.files, acl)->is_live);
	assert_non_null(pattern_files_find(&r.files, acl)->feed[0]->set->guard);
	assert_false(pattern_files_find(&r.files, map)->is_live);
	assert_null(pattern_files_find(&r.files, map)->feed[0]->set->guard);
}

/* Accepted, as in HAProxy; a warning names the missing look-up. */
static void
test_without_a_use(void **state)
{
	(void)state;
	action_rig_good(&r, lines("http-request set-map(@M) a b\nhttp-request set-header L 1"));
	assert_int_equal(r.diag.count[CFG_WARNING], 1);
	action_rig_heads(&r, REQ, NULL);
	assert_int_equal(action_rig_run(&r, RULE_HTTP_REQUEST), RULE_CONT);
	assert_true(http_find(&r.req, STR("L"), 0) >= 0);
	assert_null(pattern_files_find(&r.files, map));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_changes),
		CASE(test_places),
		CASE(test_refused),
		CASE(test_wrong),
		CASE(test_without_a_use),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
