/* The statistics over HTTP, as a local service of a process with one worker. */
#include "unit/app/bench.h"
#include "unit/test.h"

#include "app/stats/stats_int.h"

#define PAGES                                                                              \
	"backend be\n server a 127.0.0.1:1\n server b 127.0.0.1:2 disabled\n"              \
	"listen page\n mode http\n bind abns@tacit-unit-page\n stats uri /stats\n"         \
	"listen part\n mode http\n bind abns@tacit-unit-part\n stats scope .\n stats scope be\n"

static struct service_job *job;
static char rig_text[1 << 16];

static int
setup(void **st)
{
	(void)st;
	assert_int_equal(bench_open("", PAGES), 0);
	assert_int_equal(process_bind(&proc), 0);
	assert_int_equal(process_start(&proc), 0);
	return 0;
}

static int
teardown(void **st)
{
	(void)st;
	bench_close();
	return 0;
}

static void
end_job(void)
{
	if (!job)
		return;
	stats_service.end(job);
	sbuf_fini(&job->texts);
	sbuf_fini(&job->out);
	free(job);
	job = NULL;
}

/* The whole body for this target; "" without one. The head is in job until the next call. */
static const char *
ask(const char *section, const char *target, unsigned int flags, const char *body)
{
	end_job();
	job = calloc(1, sizeof(*job));
	job->service = &stats_service;
	job->conf = proxies_find(&cfg.proxies, section, PROXY_FE | PROXY_BE);
	assert_non_null(job->conf);
	job->target = str_of(target);
	job->body = str_of(body);
	job->flags = flags;
	sbuf_init(&job->texts, SERVICE_HEAD_MAX);
	sbuf_init(&job->out, sizeof(rig_text) - 1);
	stats_service.begin(job, &proc);
	assert_false(job->texts.failed);
	while (job->has_body && stats_service.step(job, &proc))
		assert_false(job->out.failed);
	(void)snprintf(rig_text, sizeof(rig_text), "%s", job->out.p ? job->out.p : "");
	return rig_text;
}

/* True if the head has this text among its fields' values. */
static int
says(const char *value)
{
	return job->texts.p && strstr(job->texts.p, value) != NULL;
}

static unsigned int
lines_of(const char *text)
{
	unsigned int n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

static void
csv_has_a_row_for_each(void **st)
{
	const char *text = ask("page", "/stats;csv", 0, "");

	(void)st;
	assert_int_equal(job->status, 200);
	assert_true(says("no-cache"));
	assert_true(says("text/plain"));
	assert_memory_equal(text, "# pxname,svname,", 16);
	assert_non_null(strstr(text, "\nbe,a,0,"));
	assert_non_null(strstr(text, "\nbe,b,0,"));
	assert_non_null(strstr(text, "\nbe,BACKEND,"));
	assert_non_null(strstr(text, "\npage,FRONTEND,"));
	assert_non_null(strstr(text, "\npart,BACKEND,"));
}

static void
scopes_hide_proxies(void **st)
{
	const char *text = ask("part", "/haproxy?stats;csv", 0, "");

	(void)st;
	assert_int_equal(lines_of(text), 6);
	assert_null(strstr(text, "\npage,"));
	text = ask("part", "/haproxy?stats;csv&scope=p", 0, "");
	assert_int_equal(lines_of(text), 3);
	text = ask("part", "/haproxy?stats;csv&scope=no", 0, "");
	assert_int_equal(lines_of(text), 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(csv_has_a_row_for_each),
		cmocka_unit_test(scopes_hide_proxies),
	};
	int r = cmocka_run_group_tests(tests, setup, teardown);

	end_job();
	return r;
}
