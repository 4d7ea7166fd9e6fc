/* show errors: the form of the dump, for any bytes, and which messages are shown. */
#include "unit/app/app_rig.h"

#include "proxy/model/invalid_msg.h"

static struct proxy *
proxy_of_rig(void)
{
	return list_first(&cfg.proxies.all, struct proxy, link);
}

static void
keep(int side, const void *bytes, size_t n, size_t at)
{
	struct proxy *p = proxy_of_rig();
	struct invalid_msg *m = invalid_msg_new(n);

	assert_non_null(m);
	m->event = atomic_add(&proc.shared.invalid_msgs, 1) - 1;
	m->why = HTTP_BAD_FIELD_NAME;
	m->other = side == SERVER ? p : NULL;
	m->room = 16384;
	m->len = (uint32_t)n;
	m->at = (uint32_t)at;
	memcpy(m->bytes, bytes, n);
	invalid_msg_keep(&p->invalid[side], m, w->sys);
}

/* The bytes that a dump shows. Checks the form of each line. */
static size_t
read_dump(const char *dump, char *out)
{
	size_t n = 0;
	int continues = 0;

	while (*dump) {
		const char *end = strchr(dump, '\n'), *p = dump + 9;
		unsigned int offset, byte;
		char mark;

		assert_non_null(end);
		if (end == dump)
			break;
		assert_true(end - dump <= 79);
		assert_int_equal(sscanf(dump, "  %5u%c", &offset, &mark), 2);
		assert_int_equal(offset, n);
		assert_int_equal(mark, continues ? '+' : ' ');
		for (; p < end; n++) {
			static const char letters[] = "tnre\\", bytes[] = "\t\n\r\x1b\\";

			assert_true(*p >= ' ' && *p <= '~');
			if (*p != '\\') {
				out[n] = *p++;
			} else if (p[1] == 'x') {
				assert_int_equal(sscanf(p + 2, "%2x", &byte), 1);
				out[n] = (char)byte;
				p += 4;
			} else {
				assert_non_null(strchr(letters, p[1]));
				out[n] = bytes[strchr(letters, p[1]) - letters];
				p += 2;
			}
		}
		continues = out[n - 1] != '\n';
		dump = end + 1;
	}
	return n;
}

static void
nothing_is_kept_at_first(void **st)
{
	const char *a = rig_command("show errors");

	(void)st;
	rig_check_shape(a);
	assert_int_equal(strncmp(a, "Total events captured on [", 26), 0);
	assert_non_null(strstr(a, "] : 0\n"));
	assert_null(strstr(a, "invalid"));
}

/* Any bytes of any length can be read back. */
static void
a_dump_has_all_bytes(void **st)
{
	static char bytes[2000], got[2000];
	unsigned int x = 1;

	(void)st;
	for (unsigned int round = 0; round < 300; round++) {
		size_t n = round < 100 ? round : (x >> 8) % sizeof(bytes);
		const char *a, *dump;

		for (size_t i = 0; i < n; i++) {
			x = x * 1103515245u + 12345u;
			bytes[i] = round % 3 ? "ab\n\r \\"[(x >> 16) % 6] : (char)(x >> 16);
		}
		keep(CLIENT, bytes, n, n / 2);
		a = rig_command("show errors");
		dump = strstr(a, " bytes :\n  \n");
		assert_non_null(dump);
		assert_int_equal(read_dump(dump + strlen(" bytes :\n  \n"), got), n);
		assert_memory_equal(got, bytes, n);
	}
}

/* Each byte is shown as four: more than one step may write. */
static void
a_message_may_be_as_long_as_a_buffer(void **st)
{
	size_t n = 1u << 20, shown = 0;
	char *bytes = mem_alloc(n);
	const char *a;

	(void)st;
	memset(bytes, 0xff, n);
	keep(CLIENT, bytes, n, n);
	for (int i = 0; i < 2; i++) {
		a = rig_command("show errors");
		rig_check_shape(a);
		for (shown = 0; *a; a++)
			shown += *a == '\\';
		assert_int_equal(shown, n);
	}
	mem_free(bytes);
}

static void
requests_and_responses_are_chosen(void **st)
{
	char command[64];
	const char *a;

	(void)st;
	keep(CLIENT, "GET (\n", 6, 4);
	keep(SERVER, "HTTP\n", 5, 0);
	a = rig_command("show errors");
	assert_non_null(strstr(a, "] : 2\n"));
	assert_true(strstr(a, "invalid request") < strstr(a, "invalid response"));
	assert_non_null(strstr(a, "error at position 4\n"));
	a = rig_command("show errors -1 request");
	assert_non_null(strstr(a, "invalid request"));
	assert_null(strstr(a, "invalid response"));
	snprintf(command, sizeof(command), "show errors %d response", proxy_of_rig()->id);
	a = rig_command(command);
	assert_null(strstr(a, "invalid request"));
	assert_non_null(strstr(a, "invalid response"));
	assert_null(strstr(rig_command("show errors 999"), "invalid"));
	assert_string_equal(rig_command("show errors nowhere"), "No such proxy.\n\n");
	/* Showing them has taken none away. */
	assert_non_null(strstr(rig_command("show errors"), "invalid response"));
}

/* The later of two stays, in whatever order they come, and while one is shown. */
static void
the_latest_stays(void **st)
{
	struct invalid_msgs *all = &proxy_of_rig()->invalid[CLIENT];
	struct invalid_msg *early = invalid_msg_new(0), *late = invalid_msg_new(0), *shown;

	(void)st;
	early->event = 1;
	late->event = 2;
	invalid_msg_keep(all, late, w->sys);
	invalid_msg_keep(all, early, w->sys);
	assert_ptr_equal(all->last, late);
	shown = invalid_msg_take(all, w->sys);
	assert_ptr_equal(shown, late);
	assert_null(invalid_msg_take(all, w->sys));
	late = invalid_msg_new(0);
	late->event = 3;
	invalid_msg_keep(all, late, w->sys);
	invalid_msg_give_back(all, shown, w->sys);
	assert_ptr_equal(all->last, late);
	invalid_msg_give_back(all, NULL, w->sys);
	assert_ptr_equal(all->last, late);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_CASE(nothing_is_kept_at_first),
		RIG_CASE(a_dump_has_all_bytes),
		RIG_CASE(a_message_may_be_as_long_as_a_buffer),
		RIG_CASE(requests_and_responses_are_chosen),
		RIG_CASE(the_latest_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
