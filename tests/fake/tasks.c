#include "fake/tasks.h"

#include <stdlib.h>

#include "fake/kernel_int.h"

struct fake_task {
	struct list link; /* of fake.tasks, in the order of their starts */
	struct fake *k;
	pthread_t id;
	pthread_cond_t turn;
	int waits;
	struct fake_epoll *ep; /* for an event of this one, */
	const uint32_t *word;  /* a wake-up of this word, */
	int joins;             /* the end of another thread, */
	pthread_t other;
	uint64_t until;        /* or this time */
	int is_quiet;          /* it runs, though none of that has happened, nor ever will */
};

static __thread struct fake_task *self;
static pthread_key_t leaving;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* --- the next thread --- */

static int
can_go_on(const struct fake_task *t)
{
	return !t->waits || (t->ep && !list_is_empty(&t->ep->ready)) || t->until <= t->k->now;
}

/* The next one after this place of the list, or NULL. */
static struct fake_task *
next_task(struct fake *k, const struct list *after)
{
	const struct list *at = after;

	do {
		at = at->next;
		if (at != &k->tasks) {
			struct fake_task *t = list_entry(at, struct fake_task, link);

			if (can_go_on(t))
				return t;
		}
	} while (at != after);
	return NULL;
}

static uint64_t
soonest(struct fake *k)
{
	uint64_t at = k->heap_n ? k->heap[0].at : UINT64_MAX;

	list_each(it, &k->tasks)
		at = MIN(at, list_entry(it, struct fake_task, link)->until);
	return at;
}

/* A thread that waits for events, after this place of the list: a real kernel would let it sleep
 * for ever. */
static struct fake_task *
interrupt_one(struct fake *k, const struct list *after)
{
	const struct list *at = after;

	do {
		struct fake_task *t;

		at = at->next;
		t = list_entry(at, struct fake_task, link);
		if (at == &k->tasks || !t->ep)
			continue;
		t->is_quiet = 1;
		return t;
	} while (at != after);
	assert(!"a thread waits for events");
	return NULL;
}

/* Advances the time until one can run. */
static struct fake_task *
find_task(struct fake *k, const struct list *after)
{
	struct fake_task *t;

	while (!(t = next_task(k, after))) {
		uint64_t at = soonest(k);

		if (at == UINT64_MAX)
			return interrupt_one(k, after);
		k->now = MAX(k->now, at);
		fake_run_due(k);
	}
	return t;
}

static void
give_turn(struct fake *k, struct fake_task *to)
{
	k->running = to;
	pthread_cond_signal(&to->turn);
}

static void
await_turn(struct fake_task *t)
{
	while (t->k->running != t)
		pthread_cond_wait(&t->turn, &t->k->baton);
}

/* --- threads come and go --- */

static void
leave(void *task)
{
	struct fake_task *t = task;
	struct fake *k = t->k;
	const struct list *before = t->link.prev;

	pthread_mutex_lock(&k->baton);
	list_remove(&t->link);
	k->n_tasks--;
	list_each(it, &k->tasks) {
		struct fake_task *other = list_entry(it, struct fake_task, link);

		if (other->joins && pthread_equal(other->other, pthread_self()))
			other->waits = 0;
	}
	give_turn(k, find_task(k, before));
	pthread_mutex_unlock(&k->baton);
	pthread_cond_destroy(&t->turn);
	free(t);
}

static void
make_key(void)
{
	(void)pthread_key_create(&leaving, leave);
}

void
fake_task_begin(struct fake *k)
{
	struct fake_task *t;

	if (self && self->k == k)
		return;
	t = fake_zalloc(sizeof(*t));
	t->k = k;
	t->id = pthread_self();
	t->until = UINT64_MAX;
	pthread_cond_init(&t->turn, NULL);
	pthread_mutex_lock(&k->baton);
	list_append(&k->tasks, &t->link);
	k->n_tasks++;
	k->tasks_ever++;
	self = t;
	if (!k->running) {
		k->running = t;
	} else {
		(void)pthread_once(&once, make_key);
		(void)pthread_setspecific(leaving, t);
		pthread_cond_broadcast(&k->known);
		await_turn(t);
	}
	pthread_mutex_unlock(&k->baton);
}

void
fake_tasks_init(struct fake *k)
{
	list_init(&k->tasks);
	pthread_mutex_init(&k->baton, NULL);
	pthread_cond_init(&k->known, NULL);
}

/* Only the first thread is left. */
void
fake_tasks_free(struct fake *k)
{
	if (self && self->k == k) {
		pthread_cond_destroy(&self->turn);
		fake_release(self);
		self = NULL;
	}
	pthread_mutex_destroy(&k->baton);
	pthread_cond_destroy(&k->known);
}

/* --- waiting --- */

static void
pass_on(struct fake_task *t)
{
	struct fake_task *next = find_task(t->k, &t->link);

	if (next == t)
		return;
	pthread_mutex_lock(&t->k->baton);
	give_turn(t->k, next);
	await_turn(t);
	pthread_mutex_unlock(&t->k->baton);
}

int
fake_task_wait(struct fake_epoll *ep, const uint32_t *word, uint64_t until)
{
	self->waits = 1;
	self->is_quiet = 0;
	self->ep = ep;
	self->word = word;
	self->until = until;
	pass_on(self);
	self->waits = 0;
	self->ep = NULL;
	self->word = NULL;
	self->until = UINT64_MAX;
	return self->is_quiet;
}

void
fake_task_yield(void)
{
	pass_on(self);
}

/* The number of those that waited. */
long
fake_task_wake(struct fake *k, const uint32_t *word)
{
	long n = 0;

	list_each(it, &k->tasks) {
		struct fake_task *t = list_entry(it, struct fake_task, link);

		if (!t->waits || t->word != word)
			continue;
		t->waits = 0;
		n++;
	}
	return n;
}

/* --- around the calls of pthreads --- */

/* Set before its first call. */
static __thread unsigned int own_process;

void
fake_thread_is_process(unsigned int process)
{
	own_process = process;
}

unsigned int
fake_process(void)
{
	return own_process;
}

unsigned int
fake_threads(void)
{
	return self ? self->k->tasks_ever : 0;
}

void
fake_thread_started(unsigned int before)
{
	struct fake *k;

	if (!self)
		return;
	k = self->k;
	pthread_mutex_lock(&k->baton);
	while (k->tasks_ever == before)
		pthread_cond_wait(&k->known, &k->baton);
	pthread_mutex_unlock(&k->baton);
}

static int
is_there(const struct fake *k, pthread_t id)
{
	list_each(it, (struct list *)(uintptr_t)&k->tasks)
		if (pthread_equal(list_entry(it, struct fake_task, link)->id, id))
			return 1;
	return 0;
}

/* One that has left needs no turn to end. */
void
fake_thread_joins(pthread_t other)
{
	if (!self || !is_there(self->k, other))
		return;
	self->waits = self->joins = 1;
	self->other = other;
	pthread_mutex_lock(&self->k->baton);
	give_turn(self->k, find_task(self->k, &self->link));
	pthread_mutex_unlock(&self->k->baton);
}

void
fake_thread_joined(void)
{
	if (!self)
		return;
	pthread_mutex_lock(&self->k->baton);
	await_turn(self);
	pthread_mutex_unlock(&self->k->baton);
	self->waits = self->joins = 0;
}
