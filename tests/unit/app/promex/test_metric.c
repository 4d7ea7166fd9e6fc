/* The table of metrics, and the text format 0.0.4. */
#include "unit/test.h"

#include "app/admin/stat_rows.h"
#include "app/promex/promex.c"

static char storage[4096];
static struct sbuf out;

static const char *
text_of(void)
{
	storage[out.len] = '\0';
	assert_false(out.failed);
	return storage;
}

static void
begin_text(void)
{
	sbuf_init_fixed(&out, storage, sizeof(storage));
}

static int
has_ending(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n >= m && strcmp(s + n - m, end) == 0;
}

/* Prometheus' rules for names and types, but for one name of HAProxy's. */
static void
names_are_well_formed(void **st)
{
	(void)st;
	assert_in_range(metric_count(), 100, PROMEX_METRICS_MAX);
	for (unsigned int i = 0; i < metric_count(); i++) {
		struct metric m = metric_at(i);

		assert_int_equal(strspn(m.name, "abcdefghijklmnopqrstuvwxyz_"), strlen(m.name));
		assert_true(m.scopes != 0 && m.scopes < 1u << METRIC_SCOPES);
		if (strcmp(m.name, "failed_resolutions") != 0)
			assert_int_equal(
				has_ending(m.name, "_total"), m.type == METRIC_COUNTER);
		if (m.form == METRIC_MS)
			assert_true(has_ending(m.name, "_seconds"));
	}
}

static void
a_name_is_there_once_in_a_scope(void **st)
{
	(void)st;
	for (unsigned int i = 0; i < metric_count(); i++)
		for (unsigned int j = 0; j < i; j++)
			assert_false(strcmp(metric_at(i).name, metric_at(j).name) == 0 &&
				(metric_at(i).scopes & metric_at(j).scopes));
}

/* A help is one line without escapes, and has no milliseconds for a metric in seconds. */
static void
helps_fit_the_values(void **st)
{
	(void)st;
	for (unsigned int i = 0; i < metric_count(); i++) {
		struct metric m = metric_at(i);

		assert_null(strpbrk(m.help, "\\\n"));
		assert_true(strlen(m.help) > 5);
		assert_null(strstr(m.help, "illisecond"));
	}
}

/* Each column of times in milliseconds is converted. */
static void
times_are_seconds(void **st)
{
	(void)st;
	for (unsigned int i = 0; i < metric_count(); i++) {
		struct metric m = metric_at(i);

		if (m.scopes != 1u << SCOPE_GLOBAL && m.field &&
			strstr(m.field->desc, "illisecond"))
			assert_int_equal(m.form, METRIC_MS);
	}
}

static struct metric
metric_called(const char *name, unsigned int scope)
{
	for (unsigned int i = 0; i < metric_count(); i++)
		if (strcmp(metric_at(i).name, name) == 0 && (metric_at(i).scopes >> scope & 1))
			return metric_at(i);
	fail_msg("no metric %s", name);
	return metric_at(0);
}

static void
headers(void **st)
{
	struct metric m = metric_called("bytes_in_total", SCOPE_BACKEND);

	(void)st;
	begin_text();
	metric_put_header(&out, &m, SCOPE_BACKEND);
	assert_string_equal(text_of(),
		"# HELP haproxy_backend_bytes_in_total Bytes received from clients.\n"
		"# TYPE haproxy_backend_bytes_in_total counter\n");
	m = metric_called("weight", SCOPE_SERVER);
	begin_text();
	metric_put_header(&out, &m, SCOPE_SERVER);
	assert_string_equal(text_of(),
		"# HELP haproxy_server_weight Weight in use, of a backend the sum.\n"
		"# TYPE haproxy_server_weight gauge\n");
}

/* --- samples of a row --- */

static struct proxy be = { .name = (char *)(uintptr_t)"be" };
static struct server srv = { .name = (char *)(uintptr_t)"s1", .be = &be };
static struct stat_item item;

/* The samples of the server's row for this metric. */
static const char *
samples(const char *name)
{
	struct metric m = metric_called(name, SCOPE_SERVER);

	item.type = TYPE_SERVER;
	item.proxy = &be;
	item.server = &srv;
	begin_text();
	if (metric_has_samples(&m, &item))
		metric_put_item(&out, &m, SCOPE_SERVER, &item);
	return text_of();
}

/* Names have none of these bytes so far. */
static void
labels_are_escaped(void **st)
{
	(void)st;
	memset(&item, 0, sizeof(item));
	stat_row_int(&item.row, STAT_weight, 1);
	srv.name = (char *)(uintptr_t)"a\"b\\c\nd{},= \xc3\xa4";
	assert_string_equal(samples("weight"),
		"haproxy_server_weight{proxy=\"be\",server=\"a\\\"b\\\\c\\nd{},= \xc3\xa4\"} 1\n");
	srv.name = (char *)(uintptr_t)"s1";
}

static void
numbers(void **st)
{
	(void)st;
	memset(&item, 0, sizeof(item));
	stat_row_int(&item.row, STAT_bin, INT64_C(123456789012345));
	stat_row_int(&item.row, STAT_lastsess, -1);
	stat_row_int(&item.row, STAT_ctime, 1500);
	stat_row_int(&item.row, STAT_rtime, 0);
	stat_row_int(&item.row, STAT_ttime, 2005);
	stat_row_int(&item.row, STAT_qtime, 7);
	stat_row_int(&item.row, STAT_qtime_max, 60020);
	assert_string_equal(samples("bytes_in_total"),
		"haproxy_server_bytes_in_total{proxy=\"be\",server=\"s1\"} 123456789012345\n");
	assert_string_equal(samples("last_session_seconds"),
		"haproxy_server_last_session_seconds{proxy=\"be\",server=\"s1\"} -1\n");
	assert_string_equal(samples("connect_time_average_seconds"),
		"haproxy_server_connect_time_average_seconds{proxy=\"be\",server=\"s1\"} 1.5\n");
	assert_string_equal(samples("response_time_average_seconds"),
		"haproxy_server_response_time_average_seconds{proxy=\"be\",server=\"s1\"} 0\n");
	assert_string_equal(samples("total_time_average_seconds"),
		"haproxy_server_total_time_average_seconds{proxy=\"be\",server=\"s1\"} 2.005\n");
	assert_string_equal(samples("queue_time_average_seconds"),
		"haproxy_server_queue_time_average_seconds{proxy=\"be\",server=\"s1\"} 0.007\n");
	assert_string_equal(samples("max_queue_time_seconds"),
		"haproxy_server_max_queue_time_seconds{proxy=\"be\",server=\"s1\"} 60.02\n");
	/* Without a value there is no sample, instead of NaN. */
	assert_string_equal(samples("queue_limit"), "");
}

static void
responses_have_a_code(void **st)
{
	(void)st;
	memset(&item, 0, sizeof(item));
	for (int i = 0; i < 6; i++)
		stat_row_int(&item.row, (enum stat_col)(STAT_hrsp_1xx + i), i + 1);
	assert_string_equal(samples("http_responses_total"),
		"haproxy_server_http_responses_total{proxy=\"be\",server=\"s1\",code=\"1xx\"} 1\n"
		"haproxy_server_http_responses_total{proxy=\"be\",server=\"s1\",code=\"2xx\"} 2\n"
		"haproxy_server_http_responses_total{proxy=\"be\",server=\"s1\",code=\"3xx\"} 3\n"
		"haproxy_server_http_responses_total{proxy=\"be\",server=\"s1\",code=\"4xx\"} 4\n"
		"haproxy_server_http_responses_total{proxy=\"be\",server=\"s1\",code=\"5xx\"} 5\n"
		"haproxy_server_http_responses_total{proxy=\"be\",server=\"s1\",code=\"other\"} "
		"6\n");
}

/* The value of the label state whose sample is 1; there is exactly one, or none: "". */
static const char *
state_in(const char *text)
{
	static char state[32];

	state[0] = '\0';
	for (const char *at = text; (at = strstr(at, "state=\"")) != NULL; at++) {
		const char *end = strchr(at + 7, '"');

		assert_memory_equal(end, "\"} ", 3);
		if (end[3] == '1') {
			assert_string_equal(state, "");
			(void)snprintf(state, sizeof(state), "%.*s", (int)(end - at - 7), at + 7);
		}
	}
	return state;
}

static unsigned int
lines_in(const char *text)
{
	unsigned int n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

static void
states_of_servers(void **st)
{
	static const struct {
		const char *text, *state;
	} rows[] = {
		{ "UP", "UP" }, { "UP 1/3", "UP" }, { "no check", "UP" }, { "DOWN", "DOWN" },
		{ "DOWN 1/2", "DOWN" }, { "DOWN (agent)", "DOWN" }, { "MAINT", "MAINT" },
		{ "MAINT (via b/s)", "MAINT" }, { "MAINT (resolution)", "MAINT" },
		{ "DRAIN", "DRAIN" }, { "DRAIN (agent)", "DRAIN" }, { "NOLB", "NOLB" },
		{ "NOLB 1/2", "NOLB" },
	};

	(void)st;
	memset(&item, 0, sizeof(item));
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		stat_row_text(&item.row, STAT_status, rows[i].text);
		assert_string_equal(state_in(samples("status")), rows[i].state);
		assert_int_equal(lines_in(storage), 5);
	}
}

static void
results_of_checks(void **st)
{
	(void)st;
	memset(&item, 0, sizeof(item));
	assert_string_equal(samples("check_status"), "");
	stat_row_text(&item.row, STAT_check_status, "L7STS");
	assert_string_equal(state_in(samples("check_status")), "L7STS");
	assert_int_equal(lines_in(storage), 16);
	stat_row_text(&item.row, STAT_check_status, "* L7OKC");
	assert_string_equal(state_in(samples("check_status")), "L7OKC");
	stat_row_text(&item.row, STAT_check_status, "INI");
	assert_string_equal(state_in(samples("check_status")), "");
	assert_int_equal(lines_in(storage), 16);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_well_formed),
		cmocka_unit_test(a_name_is_there_once_in_a_scope),
		cmocka_unit_test(helps_fit_the_values),
		cmocka_unit_test(times_are_seconds),
		cmocka_unit_test(headers),
		cmocka_unit_test(labels_are_escaped),
		cmocka_unit_test(numbers),
		cmocka_unit_test(responses_have_a_code),
		cmocka_unit_test(states_of_servers),
		cmocka_unit_test(results_of_checks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
