/* A worker with these sections, and jobs of local services that are run in it. */
#ifndef TESTS_UNIT_APP_SERVICE_RIG_H
#define TESTS_UNIT_APP_SERVICE_RIG_H

#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "unit/test.h"

#include "proxy/model/service.h"

static struct service_job *job;
static char rig_text[1 << 18];

static inline int
service_rig_open(const char *sections)
{
	assert_int_equal(bench_open("", sections), 0);
	assert_int_equal(process_bind(&proc), 0);
	assert_int_equal(process_start(&proc), 0);
	return 0;
}

static inline void
end_job(void)
{
	if (!job)
		return;
	job->service->end(job);
	sbuf_fini(&job->texts);
	sbuf_fini(&job->out);
	free(job);
	job = NULL;
}

/* In place of the one before. */
static inline void
new_job(const struct local_service *service, const char *target)
{
	end_job();
	job = calloc(1, sizeof(*job));
	job->service = service;
	job->target = str_of(target);
	sbuf_init(&job->texts, SERVICE_HEAD_MAX);
	sbuf_init(&job->out, sizeof(rig_text) - 1);
}

/* The whole body; "" without one. The head is in job until the next one is made. */
static inline const char *
run_job(void)
{
	while (job->service->begin(job, &proc))
		;
	assert_false(job->texts.failed);
	while (job->has_body && job->service->step(job, &proc))
		assert_false(job->out.failed);
	(void)snprintf(rig_text, sizeof(rig_text), "%s", job->out.p ? job->out.p : "");
	return rig_text;
}

#endif
