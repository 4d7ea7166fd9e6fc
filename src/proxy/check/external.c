/* Commands of external checks and the helper that runs them. On the first worker; a slot is taken
 * from the request until the helper reports that the command has ended. */
#include "proxy/check/external.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/log.h"
#include "base/mem.h"
#include "event/loop.h"
#include "event/profile.h"
#include "proxy/check/external_args.h"
#include "proxy/check/external_msg.h"
#include "proxy/model/proxy.h"

#define TEXT_MAX 512

struct slot {
	struct external_job *job; /* NULL: cancelled, the command has not ended yet */
	uint32_t id;
	uint8_t is_taken;
	uint8_t kill_due;        /* the helper has not been notified yet */
};

struct external {
	struct engine *engine;
	struct external_helper *helper;
	struct task send;        /* requests are sent by it */
	struct list waiting;     /* struct external_job.link */
	unsigned int n_taken;
	uint32_t next_id;
	struct slot slot[EXTERNAL_COMMANDS_MAX];
	char request[EXTERNAL_REQUEST_MAX];
};

/* --- messages --- */

static void
report_alert(struct external *x, const char *text)
{
	struct engine *e = x->engine;

	if (e->hooks.on_notice)
		e->hooks.on_notice(e, 1, text);
	log_msg(e->log, LOG_LEVEL_ALERT, "%s", text);
}

/* Once for each reason: a check is repeated for ever. */
static void
report_not_executed(struct external *x, struct external_job *j, int err)
{
	char text[TEXT_MAX];

	if (j->err == err)
		return;
	j->err = err;
	(void)snprintf(text, sizeof(text), "External check of server %s/%s: cannot execute %s: %s.",
		j->srv->be->name, j->srv->name, j->srv->be->check.command, strerror(err));
	report_alert(x, text);
}

/* --- the end of the helper --- */

void
external_helper_end(struct external_helper *h, struct sys *sys)
{
	int status;

	if (h->fd >= 0)
		(void)sys_close(sys, h->fd);
	h->fd = -1;
	if (h->pid <= 0)
		return;
	(void)sys_kill(sys, h->pid, SIGKILL);
	(void)sys_wait4(sys, h->pid, &status, 0);
	h->pid = 0;
}

static void
end_job(struct external_job *j, int status)
{
	list_remove(&j->link);
	j->is_running = 0;
	j->on_end(j, status);
}

static void
fail_jobs(struct external *x)
{
	while (!list_is_empty(&x->waiting))
		end_job(list_entry(x->waiting.next, struct external_job, link), EXTERNAL_NO_HELPER);
	for (unsigned int i = 0; i < ARRAY_LEN(x->slot); i++) {
		struct external_job *j = x->slot[i].job;

		x->slot[i] = (struct slot){ 0 };
		if (j)
			end_job(j, EXTERNAL_NO_HELPER);
	}
	x->n_taken = 0;
}

/* The helper is not started again: the process has dropped the privileges that this needs. */
static void
lose_helper(struct external *x)
{
	struct external_helper *h = x->helper;

	loop_close(x->engine->loop, h->fd);
	h->fd = -1;
	external_helper_end(h, x->engine->sys);
	report_alert(x, "The helper process of external checks has ended: external checks fail "
			"until the next start.");
	fail_jobs(x);
}

/* --- requests --- */

/* Sends one request: 0, -EAGAIN, or another error, after which the helper cannot be used. */
static int
send_request(struct external *x, const struct sbuf *request)
{
	long r = sys_sendto(x->engine->sys, x->helper->fd, request->p, request->len,
		MSG_DONTWAIT | MSG_NOSIGNAL);

	return r < 0 ? (int)r : 0;
}

/* True if the kernel had no memory for a message: the helper still works. */
static int
is_short_of_memory(int r)
{
	return r == -ENOBUFS || r == -ENOMEM;
}

/* Without memory it is sent with the next request. */
static int
send_kill(struct external *x, struct slot *s)
{
	struct sbuf out;
	int r;

	sbuf_init_fixed(&out, x->request, sizeof(x->request));
	external_msg_begin(&out, EXTERNAL_KILL, s->id, 0, 0);
	r = send_request(x, &out);
	if (r == 0)
		s->kill_due = 0;
	return is_short_of_memory(r) ? 0 : r;
}

static unsigned int
find_free_slot(const struct external *x)
{
	unsigned int i = 0;

	while (x->slot[i].is_taken)
		i++;
	return i;
}

static int
send_run(struct external *x, struct external_job *j)
{
	unsigned int i = find_free_slot(x);
	struct sbuf out;
	int r;

	sbuf_init_fixed(&out, x->request, sizeof(x->request));
	external_args_write(j->srv, x->next_id, &out);
	r = out.failed ? -E2BIG : send_request(x, &out);
	if (r == -E2BIG || is_short_of_memory(r)) {
		report_not_executed(x, j, -r);
		end_job(j, EXTERNAL_NOT_EXECUTED << 8);
		return 0;
	}
	if (r < 0)
		return r;
	list_remove(&j->link);
	j->is_running = 1;
	j->slot = i;
	x->slot[i] = (struct slot){ .job = j, .id = x->next_id++, .is_taken = 1 };
	x->n_taken++;
	j->on_start(j);
	return 0;
}

/* Sends the requests that can be sent now. */
static int
send_due(struct external *x)
{
	int r = 0;

	for (unsigned int i = 0; i < ARRAY_LEN(x->slot) && r == 0; i++)
		if (x->slot[i].kill_due)
			r = send_kill(x, &x->slot[i]);
	while (r == 0 && !list_is_empty(&x->waiting) && x->n_taken < ARRAY_LEN(x->slot))
		r = send_run(x, list_entry(x->waiting.next, struct external_job, link));
	return r;
}

static void
on_send_task(struct task *t)
{
	struct external *x = container_of(t, struct external, send);
	struct loop *l = x->engine->loop;
	int r;

	if (x->helper->fd < 0) {
		fail_jobs(x);
		return;
	}
	r = send_due(x);
	if (r < 0 && r != -EAGAIN) {
		lose_helper(x);
		return;
	}
	if (r == 0)
		loop_progress(l, x->helper->fd);
	else
		loop_again(l, x->helper->fd, DIR_W);
	loop_want(l, x->helper->fd, r == -EAGAIN ? EV_R | EV_W : EV_R);
}
PROFILE_NAME(on_send_task, external_send)

/* --- answers --- */

static void
apply_answer(struct external *x, const struct external_answer *a)
{
	struct slot *s = NULL;
	struct external_job *j;

	for (unsigned int i = 0; i < ARRAY_LEN(x->slot) && !s; i++)
		if (x->slot[i].is_taken && x->slot[i].id == a->id)
			s = &x->slot[i];
	if (!s)
		return;
	j = s->job;
	if (a->kind == EXTERNAL_FAILED) {
		if (j)
			report_not_executed(x, j, a->value);
		return;
	}
	*s = (struct slot){ 0 };
	x->n_taken--;
	if (j && WIFEXITED(a->value) && WEXITSTATUS(a->value) != EXTERNAL_NOT_EXECUTED)
		j->err = 0;
	if (j)
		end_job(j, a->value);
	if (!list_is_empty(&x->waiting))
		loop_post(x->engine->loop, &x->send);
}

static void
on_helper(void *owner, int fd, uint32_t ev)
{
	struct external *x = owner;
	struct loop *l = x->engine->loop;
	struct external_answer a;
	long r;

	if (ev & EV_W)
		loop_post(l, &x->send);
	for (;;) {
		r = sys_recvfrom(x->engine->sys, fd, &a, sizeof(a), MSG_DONTWAIT);
		if (r != (long)sizeof(a))
			break;
		loop_progress(l, fd);
		apply_answer(x, &a);
	}
	if (r == -EAGAIN)
		loop_again(l, fd, DIR_R);
	else
		lose_helper(x);
}
PROFILE_NAME(on_helper, external_io)

/* --- jobs --- */

void
external_start(struct external *x, struct external_job *j)
{
	list_append(&x->waiting, &j->link);
	loop_post(x->engine->loop, &x->send);
}

void
external_cancel(struct external *x, struct external_job *j)
{
	list_remove(&j->link);
	if (!j->is_running)
		return;
	x->slot[j->slot].job = NULL;
	x->slot[j->slot].kill_due = 1;
	j->is_running = 0;
	loop_post(x->engine->loop, &x->send);
}

/* --- life --- */

struct external *
external_new(struct engine *e, struct external_helper *helper)
{
	struct external *x = mem_zalloc(sizeof(*x));

	if (!x)
		return NULL;
	x->engine = e;
	x->helper = helper;
	list_init(&x->waiting);
	task_init(&x->send, on_send_task);
	if (helper->fd < 0)
		return x;
	if (loop_add(e->loop, helper->fd, LOOP_CONN, on_helper, x) < 0) {
		mem_free(x);
		return NULL;
	}
	loop_want(e->loop, helper->fd, EV_R);
	loop_presume_again(e->loop, helper->fd, DIR_R);
	return x;
}

void
external_free(struct external **xp)
{
	struct external *x = *xp;

	if (!x)
		return;
	*xp = NULL;
	task_cancel(&x->send);
	if (x->helper->fd >= 0)
		loop_forget(x->engine->loop, x->helper->fd);
	mem_free(x);
}
