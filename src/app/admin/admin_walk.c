/* Long answers, on the first worker's thread, and questions to workers: a visitor runs on the
 * worker's own, and the connection is the visitor's until its message has come back. */
#include <string.h>

#include "app/admin/admin_int.h"
#include "base/mem.h"
#include "event/mailbox.h"
#include "event/profile.h"

void
admin_walk(struct admin_conn *c, admin_step_fn *step, const void *state, size_t size)
{
	c->walk.state = mem_alloc(size);
	if (!c->walk.state) {
		c->out.failed = 1;
		return;
	}
	memcpy(c->walk.state, state, size);
	c->walk.step = step;
}

void
admin_walk_with_end(struct admin_conn *c, admin_step_fn *step, void (*end)(void *state),
	void *state, size_t size)
{
	admin_walk(c, step, state, size);
	if (c->walk.state)
		c->walk.end = end;
	else
		end(state);
}

static void
end_walk(struct admin_conn *c)
{
	if (c->walk.end)
		c->walk.end(c->walk.state);
	mem_free(c->walk.state);
	c->walk = (struct admin_walk){ .step = NULL };
	c->wake_ms = 0;
}

int
admin_walk_on(struct admin_conn *c)
{
	c->wake_ms = 0;
	c->walk.ends_turn = 0;
	if (c->walk.step(c, c->walk.state))
		return 1;
	end_walk(c);
	return 0;
}

void
admin_abandon_line(struct admin_conn *c)
{
	assert(!c->ask.worker);
	end_walk(c);
	c->line = NULL;
}

/* --- other workers --- */

static void
send_mail(struct worker *from, struct worker *to, struct admin_conn *c, mail_fn *fn)
{
	struct mail m = { .fn = fn, .arg = c };

	if (mailbox_post(from->mailbox, to->mailbox, &m) < 0)
		loop_post_next(from->loop, &c->ask.again);
}

static void
on_answered(void *first, struct mail *m)
{
	struct admin_conn *c = m->arg;

	((struct worker *)first)->questions++;
	c->ask.worker = NULL;
	c->ask.on_answer(c);
}
PROFILE_NAME(on_answered, admin_walk_answered)

static void
mail_answer(struct admin_conn *c)
{
	send_mail(c->ask.worker, c->admin->worker, c, on_answered);
}

static void
on_asked(void *worker, struct mail *m)
{
	struct admin_conn *c = m->arg;

	((struct worker *)worker)->questions++;
	c->ask.visit(c, worker, c->walk.state);
	c->ask.is_answered = 1;
	mail_answer(c);
}
PROFILE_NAME(on_asked, admin_walk_asked)

static void
mail_ask(struct admin_conn *c)
{
	send_mail(c->admin->worker, c->ask.worker, c, on_asked);
}

static void
on_again(struct task *t)
{
	struct admin_conn *c = container_of(t, struct admin_conn, ask.again);

	if (c->ask.is_answered)
		mail_answer(c);
	else
		mail_ask(c);
}
PROFILE_NAME(on_again, admin_walk)

void
admin_ask_init(struct admin_ask *a, void (*on_answer)(struct admin_conn *c))
{
	*a = (struct admin_ask){ .on_answer = on_answer };
	task_init(&a->again, on_again);
}

void
admin_ask(struct admin_conn *c, struct worker *w, admin_visit_fn *visit)
{
	if (w == c->admin->worker || !w->has_thread) {
		visit(c, w, c->walk.state);
		return;
	}
	c->ask.worker = w;
	c->ask.visit = visit;
	c->ask.is_answered = 0;
	mail_ask(c);
}

static int
next_worker(struct admin_conn *c, void *state)
{
	const struct process *p = c->admin->process;
	struct admin_tour *t = state;

	if (t->is_done) {
		t->is_done = 0;
		t->after = 0;
		t->worker++;
	}
	if (t->worker == p->n_workers)
		return 0;
	admin_ask(c, &p->workers[t->worker], t->visit);
	return 1;
}

void
admin_tour(struct admin_conn *c, const void *state, size_t size)
{
	admin_walk(c, next_worker, state, size);
}
