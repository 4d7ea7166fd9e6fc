/* Jobs of local services between a session's worker and the first one. A job in the hands of the
 * first worker is touched by no other, but for `session`, which is never read there. */
#include "proxy/model/service.h"

#include <stdarg.h>
#include <string.h>

#include "base/mem.h"
#include "event/profile.h"
#include "proxy/model/session.h"

/* --- a job --- */

static void
free_job(struct service_job *j)
{
	if (j->service->end)
		j->service->end(j);
	sbuf_fini(&j->texts);
	sbuf_fini(&j->out);
	mem_free(j);
}

static struct str
copy_text(char **at, struct str text)
{
	struct str copy = { *at, text.len };

	if (text.len)
		memcpy(*at, text.p, text.len);
	(*at)[text.len] = '\0';
	*at += text.len + 1;
	return copy;
}

struct service_job *
service_new(
	struct stream *s, const struct local_service *service, struct str target, struct str body)
{
	struct services *sv = s->engine->shared->services;
	struct service_job *j;
	char *at;

	if (!sv || !service)
		return NULL;
	j = mem_zalloc(sizeof(*j) + target.len + body.len + 2);
	if (!j)
		return NULL;
	at = j->copies;
	list_init(&j->link);
	j->service = service;
	j->of = sv;
	j->worker = s->engine->index;
	j->stream = s;
	j->target = copy_text(&at, target);
	j->body = copy_text(&at, body);
	sbuf_init(&j->texts, SERVICE_HEAD_MAX);
	sbuf_init(&j->out, SERVICE_OUT_MAX);
	return j;
}

void
service_field(struct service_job *j, struct str name, const char *fmt, ...)
{
	struct sbuf *b = &j->texts;
	size_t before = b->len;
	va_list ap;

	if (j->n_fields == SERVICE_FIELDS_MAX) {
		b->failed = 1;
		return;
	}
	va_start(ap, fmt);
	sbuf_vaddf(b, fmt, ap);
	va_end(ap);
	/* The string may move as it grows: offsets become addresses in finish_head(). */
	j->field[j->n_fields++] = (struct service_field){ name, { NULL, b->len - before } };
}

static void
finish_head(struct service_job *j)
{
	const char *at = j->texts.p;

	if (j->texts.failed)
		j->status = 0;
	for (unsigned int i = 0; at && i < j->n_fields; i++) {
		j->field[i].value.p = at;
		at += j->field[i].value.len;
	}
}

/* --- between the workers --- */

static void
wake_owner(struct services *sv, struct engine *from, unsigned int target)
{
	if (from == sv->first && target == from->index)
		loop_post(from->loop, &sv->task);
	else
		from->hooks.wake_services(from, target);
}

void
service_ask(struct service_job *j)
{
	struct services *sv = j->of;
	struct engine *e = j->stream->engine;

	j->is_away = 1;
	j->taken = 0;
	lock_take(&sv->lock, e->sys);
	list_append(&sv->todo, &j->link);
	lock_drop(&sv->lock);
	wake_owner(sv, e, sv->first->index);
}

void
service_drop(struct service_job *j)
{
	j->stream = NULL;
	if (!j->is_away)
		free_job(j);
}

static void
return_job(struct service_job *j)
{
	struct services *sv = j->of;
	unsigned int worker = j->worker;

	list_remove(&j->link);
	lock_take(&sv->lock, sv->first->sys);
	list_append(&sv->done[worker], &j->link);
	lock_drop(&sv->lock);
	/* The job may belong to another worker now. */
	wake_owner(sv, sv->first, worker);
}

/* --- the first worker --- */

static int
is_slice_full(const struct service_job *j)
{
	return j->is_over || j->out.failed || j->out.len >= j->of->slice;
}

/* Generates what one turn may. */
static void
generate_slice(struct service_job *j)
{
	struct services *sv = j->of;
	size_t upto = j->out.len + SERVICE_TURN;

	if (!j->has_begun) {
		if (j->service->begin(j, sv->owner))
			return;
		j->has_begun = 1;
		finish_head(j);
		j->is_over = !j->status || !j->has_body;
	}
	for (int i = 0; i < SERVICE_STEPS && j->out.len < upto && !is_slice_full(j); i++)
		j->is_over = !j->service->step(j, sv->owner);
}

static void
take_todo(struct services *sv)
{
	struct list todo;

	list_init(&todo);
	lock_take(&sv->lock, sv->first->sys);
	list_move_all(&sv->todo, &todo);
	lock_drop(&sv->lock);
	while (!list_is_empty(&todo)) {
		struct service_job *j = list_first(&todo, struct service_job, link);

		list_remove(&j->link);
		sbuf_reset(&j->out);
		list_append(&sv->active, &j->link);
	}
}

/* Runs a slice of each; unfinished jobs go to the end of the list. */
static void
run_active(struct services *sv)
{
	take_todo(sv);
	for (int i = 0; i < SERVICE_JOBS && !list_is_empty(&sv->active); i++) {
		struct service_job *j = list_first(&sv->active, struct service_job, link);

		generate_slice(j);
		if (is_slice_full(j)) {
			return_job(j);
			continue;
		}
		list_remove(&j->link);
		list_append(&sv->active, &j->link);
	}
	if (!list_is_empty(&sv->active))
		loop_post_next(sv->first->loop, &sv->task);
}

static void
take_done(struct engine *e, struct services *sv)
{
	struct list done;

	list_init(&done);
	lock_take(&sv->lock, e->sys);
	list_move_all(&sv->done[e->index], &done);
	lock_drop(&sv->lock);
	while (!list_is_empty(&done)) {
		struct service_job *j = list_first(&done, struct service_job, link);

		list_remove(&j->link);
		j->is_away = 0;
		if (j->stream)
			e->hooks.on_service(j->stream);
		else
			free_job(j);
	}
}

/* Jobs of other workers are generated in a turn of their own, not for each message. */
void
services_collect(struct engine *e)
{
	struct services *sv = e->shared->services;

	if (!sv)
		return;
	if (e == sv->first)
		loop_post(e->loop, &sv->task);
	else
		take_done(e, sv);
}

static void
on_services(struct task *t)
{
	struct services *sv = container_of(t, struct services, task);

	run_active(sv);
	take_done(sv->first, sv);
}
PROFILE_NAME(on_services, services_task)

/* --- life --- */

void
services_start(struct services *sv, struct engine *first, void *owner)
{
	sv->owner = owner;
	sv->slice = SERVICE_SLICE;
	task_init(&sv->task, on_services);
	sv->lock = (struct lock){ 0 };
	list_init(&sv->active);
	list_init(&sv->todo);
	for (unsigned int i = 0; i < ENGINES_MAX; i++)
		list_init(&sv->done[i]);
	sv->first = first;
	first->shared->services = sv;
}

static void
free_jobs(struct list *l)
{
	while (!list_is_empty(l)) {
		struct service_job *j = list_first(l, struct service_job, link);

		list_remove(&j->link);
		free_job(j);
	}
}

void
services_stop(struct services *sv)
{
	if (!sv->first)
		return;
	task_cancel(&sv->task);
	sv->first->shared->services = NULL;
	sv->first = NULL;
	free_jobs(&sv->active);
	free_jobs(&sv->todo);
	for (unsigned int i = 0; i < ENGINES_MAX; i++)
		free_jobs(&sv->done[i]);
}
