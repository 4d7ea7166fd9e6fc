/*
 * The protocol of the mailbox, proved by exhaustive search. Posters and an owner make the steps of
 * a model (mailbox_steps.h) in every order, and each reachable state is checked. The functions of
 * event/mailbox.c are compared with the model: whatever value an access returns, both make the
 * same accesses after it. Then the mailbox runs on real threads. Planted bugs must be detected.
 */
#include <stdlib.h>
#include <string.h>

#include "base/atomic.h"
#include "base/err.h"
#include "base/sys.h"
#include "mailbox_steps.h"
#include "unit/test.h"
/* A wake-up may be delayed, too. */
#define sys_write(...) (access_delay(), (sys_write)(__VA_ARGS__))
/* The unit itself, instead of the library's. */
#include "event/mailbox.c"
#include "mailbox_stress.h"

#define POSTERS 3
#define SIZE 2
/* Positions wrap around during the search. */
#define FIRST (UINT64_MAX - 2)
#define OWNER POSTERS
/* The wait ends for another reason than a message. */
#define OTHER (POSTERS + 1)
#define MOVES (POSTERS + 2)

/* A poster's script: p posts its next message, f wakes the owner as the end of a turn does. */
struct poster {
	struct mail_op op;
	uint8_t at;        /* position in its script */
	uint8_t sent;      /* messages posted */
	uint8_t unflushed; /* posted since it last woke the owner */
	uint8_t retry;     /* the queue was full: it wakes the owner and posts again */
};

/* The position of the owner in its turn. */
enum phase { SLEEPS, WAITS, WAKES, TAKES, RESETS };

struct world {
	struct mail_queue q;
	struct mail_slot slots[SIZE];
	struct poster p[POSTERS];
	struct mail_op op; /* the owner's operation */
	uint8_t phase;
	uint8_t blocked;          /* the wait may block */
	uint8_t woken;            /* the wait returned the eventfd's event */
	uint8_t count, edge;      /* the eventfd: its counter, and the edge that epoll holds */
	uint8_t expect[POSTERS];  /* the next message of each poster */
	uint8_t writes, wakes, taken;
};

/* A configuration to search, and how its eventfd is registered. */
struct scene {
	const char *script[POSTERS];
	int is_edge;
	int others; /* other events may end a wait */
};

/* A complete state, packed into few bytes. */
#define KEY_LEN 48
struct key {
	uint8_t b[KEY_LEN];
};

/* A power of two: most states of a search are 430,235. */
#define STATES_MAX ((size_t)1 << 20)

/* The result of a search. */
struct search {
	const struct scene *scene;
	struct key *seen; /* hash table with open addressing; b[0] is never 0 in use */
	size_t n;
	size_t *used; /* indexes into seen, of all n */
	size_t *todo; /* the same of those whose moves are not made yet */
	size_t n_todo;
	size_t moves;
	const char *wrong; /* NULL: no error */
	size_t endings;
};

/* --- packing of states --- */

static void
put(struct key *k, unsigned int *i, uint64_t v)
{
	assert_true(v < 256 && *i < KEY_LEN);
	k->b[(*i)++] = (uint8_t)v;
}

static void
pack(const struct world *w, struct key *k)
{
	unsigned int i = 0;

	memset(k, 0, sizeof(*k));
	put(k, &i, 1u + w->q.state);
	put(k, &i, w->q.tail - FIRST);
	put(k, &i, w->q.head - FIRST);
	for (int s = 0; s < SIZE; s++) {
		put(k, &i, w->slots[s].seq - FIRST);
		put(k, &i, (uint64_t)w->slots[s].mail.fd);
	}
	for (int p = 0; p < POSTERS; p++) {
		const struct poster *o = &w->p[p];

		put(k, &i, o->op.at);
		put(k, &i, o->op.pos - FIRST);
		put(k, &i, o->at);
		put(k, &i, o->sent);
		put(k, &i, o->unflushed);
		put(k, &i, o->retry);
		put(k, &i, w->expect[p]);
	}
	put(k, &i, w->op.at);
	put(k, &i, w->phase);
	put(k, &i, w->blocked);
	put(k, &i, w->woken);
	put(k, &i, w->count);
	put(k, &i, w->edge);
	put(k, &i, w->writes);
	put(k, &i, w->wakes);
	put(k, &i, w->taken);
}

static void
unpack(struct world *w, const struct key *k)
{
	unsigned int i = 0;

	memset(w, 0, sizeof(*w));
	w->q.slots = w->slots;
	w->q.mask = SIZE - 1;
	w->q.state = k->b[i++] - 1u;
	w->q.tail = FIRST + k->b[i++];
	w->q.head = FIRST + k->b[i++];
	for (int s = 0; s < SIZE; s++) {
		w->slots[s].seq = FIRST + k->b[i++];
		w->slots[s].mail.fd = k->b[i++];
	}
	for (int p = 0; p < POSTERS; p++) {
		struct poster *o = &w->p[p];

		o->op.at = (enum mail_at)k->b[i++];
		o->op.pos = FIRST + k->b[i++];
		o->at = k->b[i++];
		o->sent = k->b[i++];
		o->unflushed = k->b[i++];
		o->retry = k->b[i++];
		w->expect[p] = k->b[i++];
	}
	w->op.at = (enum mail_at)k->b[i++];
	w->phase = k->b[i++];
	w->blocked = k->b[i++];
	w->woken = k->b[i++];
	w->count = k->b[i++];
	w->edge = k->b[i++];
	w->writes = k->b[i++];
	w->wakes = k->b[i++];
	w->taken = k->b[i++];
}

/* --- moves --- */

/* Starts the poster's next operation after one has ended. */
static void
poster_next(const struct scene *sc, struct world *w, int p)
{
	struct poster *o = &w->p[p];
	const char *script = sc->script[p];

	o->op.at = MAIL_DONE;
	o->op.pos = FIRST;
	while (script && script[o->at] == 'f' && !o->unflushed)
		o->at++;
	if (script && script[o->at])
		o->op.at = script[o->at] == 'p' ? POST_TAIL : WAKE_LOOK;
}

static int
poster_may(const struct world *w, int p)
{
	return w->p[p].op.at != MAIL_DONE;
}

static void
poster_move(const struct scene *sc, struct world *w, int p)
{
	struct poster *o = &w->p[p];
	struct mail m = { .fd = p << 4 | o->sent };
	int posts = sc->script[p][o->at] == 'p' && !o->retry;

	if (o->op.at == WAKE_WRITE) {
		w->count++;
		w->edge = 1;
		w->writes++;
		o->op.at = MAIL_DONE;
	} else if (posts) {
		post_step(&w->q, &o->op, &m);
	} else {
		wake_step(&w->q, &o->op);
	}
	if (o->op.at == MAIL_FULL && o->unflushed) {
		o->retry = 1;
		o->op.at = WAKE_LOOK;
	} else if (o->op.at == MAIL_FULL) {
		poster_next(sc, w, p);
	} else if (o->op.at == MAIL_DONE) {
		if (posts) {
			o->sent++;
			o->unflushed++;
		} else {
			o->unflushed = 0;
		}
		if (!o->retry)
			o->at++;
		o->retry = 0;
		poster_next(sc, w, p);
	}
}

static int
event_is_pending(const struct scene *sc, const struct world *w)
{
	return sc->is_edge ? w->edge : w->count > 0;
}

static int
owner_may(const struct scene *sc, const struct world *w)
{
	return w->phase != WAITS || !w->blocked || event_is_pending(sc, w);
}

static const char *
owner_takes(struct world *w)
{
	struct mail m;

	take_step(&w->q, &w->op, &m);
	if (w->op.at == MAIL_EMPTY) {
		w->phase = RESETS;
		w->op.at = MAIL_DONE;
	} else if (w->op.at == MAIL_DONE) {
		w->op.at = TAKE_LOOK;
		w->taken++;
		if ((m.fd & 15) != w->expect[m.fd >> 4]++)
			return "a mail is lost, doubled or out of order";
	}
	return NULL;
}

/* One step of the turn, in the order of loop_turn(). */
static const char *
owner_move(const struct scene *sc, struct world *w)
{
	switch ((enum phase)w->phase) {
	case SLEEPS:
		sleep_step(&w->q, &w->op);
		if (!mail_goes_on(&w->op)) {
			w->phase = WAITS;
			w->blocked = w->op.at == SLEEP_WAIT;
		}
		return NULL;
	case WAITS:
		w->woken = (uint8_t)event_is_pending(sc, w);
		w->wakes += w->woken;
		w->edge = 0;
		w->phase = w->blocked ? WAKES : TAKES;
		w->op.at = w->blocked ? SLEEP_RUN : TAKE_LOOK;
		w->blocked = 0;
		return NULL;
	case WAKES:
		sleep_step(&w->q, &w->op);
		w->phase = TAKES;
		w->op.at = TAKE_LOOK;
		return NULL;
	case TAKES:
		return owner_takes(w);
	case RESETS:
		if (w->woken && !sc->is_edge)
			w->count = 0;
		/* A counter that is not read does not matter, and would only multiply the
		 * states. */
		if (sc->is_edge)
			w->count = 0;
		w->woken = 0;
		w->phase = SLEEPS;
		w->op.at = SLEEP_SAY;
		return NULL;
	}
	return "no such phase";
}

/* --- invariants --- */

static const char *
check_invariants(const struct scene *sc, const struct world *w)
{
	unsigned int posts = 0;
	int busy = 0;

	for (int p = 0; p < POSTERS; p++) {
		posts += w->p[p].sent;
		/* The thread has posted, and its steps 2 to 4 are still to come. */
		busy |= w->p[p].unflushed > 0;
	}
	if (w->writes > posts || w->wakes > w->writes)
		return "more wake-ups than posts";
	if (owner_may(sc, w))
		return NULL;
	if (mail_is_there(&w->q) && !busy)
		return "asleep with mail in the queue";
	for (int p = 0; p < POSTERS; p++)
		if (poster_may(w, p))
			return NULL;
	return w->taken == posts ? NULL : "the end, and not all mail was taken";
}

static int
is_the_end(const struct scene *sc, const struct world *w)
{
	for (int p = 0; p < POSTERS; p++)
		if (poster_may(w, p))
			return 0;
	return !owner_may(sc, w);
}

/* --- the search --- */

static size_t
place_of(const struct search *s, const struct key *k)
{
	uint64_t h = 14695981039346656037ull;
	size_t at;

	for (int i = 0; i < KEY_LEN; i++)
		h = (h ^ k->b[i]) * 1099511628211ull;
	for (at = (size_t)(h ^ h >> 32) & (STATES_MAX - 1); s->seen[at].b[0];
	     at = (at + 1) & (STATES_MAX - 1))
		if (memcmp(&s->seen[at], k, sizeof(*k)) == 0)
			break;
	return at;
}

static void
visit(struct search *s, const struct world *w)
{
	struct key k;
	size_t at;
	const char *wrong = check_invariants(s->scene, w);

	if (wrong && !s->wrong)
		s->wrong = wrong;
	pack(w, &k);
	at = place_of(s, &k);
	if (s->seen[at].b[0])
		return;
	s->used[s->n++] = at;
	assert_true(s->n < STATES_MAX / 4 * 3);
	s->seen[at] = k;
	s->todo[s->n_todo++] = at;
	s->endings += (size_t)is_the_end(s->scene, w);
}

static void
expand(struct search *s, size_t at)
{
	static struct world from, w;

	unpack(&from, &s->seen[at]);
	for (int move = 0; move < MOVES && !s->wrong; move++) {
		const char *wrong = NULL;
		int may = move < POSTERS ? poster_may(&from, move) :
			move == OWNER ? owner_may(s->scene, &from) :
			s->scene->others && !owner_may(s->scene, &from);

		if (!may)
			continue;
		unpack(&w, &s->seen[at]);
		if (move < POSTERS)
			poster_move(s->scene, &w, move);
		else
			wrong = owner_move(s->scene, &w);
		s->moves++;
		if (wrong)
			s->wrong = wrong;
		else
			visit(s, &w);
	}
}

/* Searches all states of a configuration: returns the first error, or NULL. */
static const char *
search(const struct scene *sc, int bug)
{
	static struct key seen[STATES_MAX];
	static size_t todo[STATES_MAX], used[STATES_MAX];
	struct search s = { .scene = sc, .seen = seen, .todo = todo, .used = used };
	static struct world w; /* static: the sanitizers' stacks do not align cache lines */

	planted = bug;
	memset(&w, 0, sizeof(w));
	mail_queue_init(&w.q, w.slots, SIZE, FIRST);
	w.op.at = SLEEP_SAY;
	for (int p = 0; p < POSTERS; p++)
		poster_next(sc, &w, p);
	visit(&s, &w);
	while (s.n_todo && !s.wrong)
		expand(&s, s.todo[--s.n_todo]);
	if (!bug)
		print_message("%s %s %s, %s%s: %zu states, %zu steps, %zu endings\n", sc->script[0],
			      sc->script[1], sc->script[2] ? sc->script[2] : "-",
			      sc->is_edge ? "edge" : "level", sc->others ? ", others" : "", s.n,
			      s.moves, s.endings);
	if (!s.wrong && !s.endings)
		s.wrong = "it never ends";
	/* Fewer pages are touched than with a new table for each search. */
	for (size_t i = 0; i < s.n; i++)
		memset(&seen[used[i]], 0, sizeof(*seen));
	return s.wrong;
}

static const char *const scripts[][POSTERS] = {
	{ "pf", "pf" },
	{ "pfpf", "pfpf" },
	{ "ppf", "pfpf" },
	{ "pppf", "ppf" },
	{ "pf", "pf", "pf" },
};

static void
no_order_of_steps_loses_a_wake_up(void **st)
{
	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(scripts); i += test_every())
		for (int mode = 0; mode < 4; mode++) {
			struct scene sc = { .is_edge = mode & 1, .others = mode >> 1 };
			const char *wrong;

			memcpy(sc.script, scripts[i], sizeof(sc.script));
			wrong = search(&sc, MAILBOX_NO_BUG);
			if (wrong)
				fail_msg("%s", wrong);
		}
}

/* Each step of the protocol is needed: without it the search finds an error. */
static void
planted_bugs_are_detected(void **st)
{
	static const struct {
		int bug;
		const char *what;
	} bugs[] = {
		{ MAILBOX_NO_RECHECK, "asleep with mail in the queue" },
		{ MAILBOX_EARLY_RUNNING, "asleep with mail in the queue" },
		{ MAILBOX_SKIPS_CHECKING, "asleep with mail in the queue" },
		{ MAILBOX_BLIND_CLAIM, "a mail is lost, doubled or out of order" },
	};

	(void)st;
	assert_int_equal(ARRAY_LEN(bugs), MAILBOX_BUGS - 1);
	for (size_t i = 0; i < ARRAY_LEN(bugs); i++)
		for (int is_edge = 0; is_edge < 2; is_edge++) {
			struct scene sc = { .script = { "ppf", "pfpf" }, .is_edge = is_edge };
			const char *wrong = search(&sc, bugs[i].bug);

			assert_non_null(wrong);
			if (bugs[i].bug == MAILBOX_BLIND_CLAIM)
				continue; /* two in one place: shows in several ways */
			assert_string_equal(wrong, bugs[i].what);
		}
}

/* --- the functions compared with the model --- */

enum operation { POST, CLAIM_WAKEUP, FALL_ASLEEP, WAKE_UP, TAKE, OPERATIONS };

/* The result of one operation. */
struct outcome {
	int is_cut; /* no value was left for an access */
	int result; /* return value of the function */
	unsigned int n;
	struct access log[ANSWERS];
	uint64_t head;
	struct mail taken;
	struct mail mail[SIZE];
};

static int
run_function(enum operation what, struct mail_queue *q, const struct mail *m, struct mail *out)
{
	switch (what) {
	case POST:
		return mail_queue_post(q, m);
	case CLAIM_WAKEUP:
		return mail_queue_claim_wakeup(q);
	case FALL_ASLEEP:
		return mail_queue_fall_asleep(q);
	case WAKE_UP:
		mail_queue_wake_up(q);
		return 0;
	case TAKE:
		return mail_queue_take(q, out);
	case OPERATIONS:
		break;
	}
	return -1;
}

/* The same operation in steps, and the return value of the function. */
static int
run_steps(enum operation what, struct mail_queue *q, const struct mail *m, struct mail *out)
{
	static const enum mail_at begin[] = { POST_TAIL, WAKE_LOOK, SLEEP_SAY, SLEEP_RUN,
					      TAKE_LOOK };
	struct mail_op op = { .at = begin[what] };

	while (mail_goes_on(&op)) {
		if (what == POST)
			post_step(q, &op, m);
		else if (what == CLAIM_WAKEUP)
			wake_step(q, &op);
		else if (what == TAKE)
			take_step(q, &op, out);
		else
			sleep_step(q, &op);
	}
	switch (what) {
	case POST:
		return op.at == MAIL_FULL ? -ERR_FULL : 0;
	case CLAIM_WAKEUP:
		return op.at == WAKE_WRITE;
	case FALL_ASLEEP:
		return op.at == SLEEP_WAIT;
	case WAKE_UP:
		return 0;
	case TAKE:
		return op.at == MAIL_DONE;
	case OPERATIONS:
		break;
	}
	return -1;
}

/* Accesses return the values that the oracle has chosen. */
static void
observe(struct outcome *o, enum operation what, int in_steps)
{
	static struct mail_slot slots[SIZE];
	static struct mail_queue q;
	const struct mail m = { .fd = 7 };

	memset(o, 0, sizeof(*o));
	memset(&q, 0, sizeof(q));
	memset(slots, 0, sizeof(slots));
	mail_queue_init(&q, slots, SIZE, FIRST);
	for (int i = 0; i < SIZE; i++)
		slots[i].mail.fd = 100 + i;
	oracle.slots = slots;
	oracle.n_slots = SIZE;
	oracle.taken = &o->taken;
	oracle.first = FIRST;
	oracle.n = 0;
	memset(oracle.log, 0, sizeof(oracle.log));
	oracle.q = &q;
	o->is_cut = setjmp(oracle.out);
	if (!o->is_cut)
		o->result = in_steps ? run_steps(what, &q, &m, &o->taken)
				     : run_function(what, &q, &m, &o->taken);
	oracle.q = NULL;
	o->n = oracle.n;
	memcpy(o->log, oracle.log, sizeof(o->log));
	o->head = q.head;
	for (int i = 0; i < SIZE; i++)
		o->mail[i] = slots[i].mail;
}

/* Each value is one of these kinds: a number below, at or above the expected one, a state, and
 * whether an exchange succeeds. */
#define ANSWER_KINDS 6

static void
functions_make_the_steps_of_the_model(void **st)
{
	static struct outcome f, m;
	unsigned int results[OPERATIONS][2] = { 0 }, longest = 0;

	(void)st;
	planted = MAILBOX_NO_BUG;
	for (int what = 0; what < OPERATIONS; what++)
		for (uint32_t n = 0; n < 46656; n++) {
			uint32_t left = n;

			for (int i = 0; i < ANSWERS; i++, left /= ANSWER_KINDS)
				oracle.answer[i] = (uint8_t)(left % ANSWER_KINDS);
			observe(&f, (enum operation)what, 0);
			observe(&m, (enum operation)what, 1);
			if (memcmp(&f, &m, sizeof(f)) != 0)
				fail_msg("operation %d, answers %u: %u accesses, the model %u",
					what, n, f.n, m.n);
			if (!f.is_cut)
				results[what][f.result != 0]++;
			longest = MAX(longest, f.n);
		}
	/* Both results occurred where there are two, and repetitions were cut. */
	for (int what = 0; what < OPERATIONS; what++)
		assert_true(results[what][0] && (what == WAKE_UP || results[what][1]));
	assert_int_equal(longest, ANSWERS);
}

/* --- real threads --- */

/* On a busy machine this many posts count as one sleep of the owner and one switch of threads. */
#define POSTS_PER_SLEEP 160

/* Number of posts: make slow uses more. */
static uint64_t
stress_mails(void)
{
	int slow = getenv("TACIT_SLOW") != NULL;

#ifdef __SANITIZE_THREAD__
	return slow ? 10000000 : 200000 / test_every();
#else
	return slow ? 100000000 : 1000000 / test_every();
#endif
}

static int
stress(enum interest_mode mode, uint64_t mails, int patience_ms, int bug, const char *what)
{
	static struct stress s;
	int r;

	misbehaving = bug;
	stressing = 1;
	memset(&s, 0, sizeof(s));
	s.patience_ms = patience_ms;
	s.enough_sleeps = bug || getenv("TACIT_SLOW") ? 0 : mails / POSTS_PER_SLEEP;
	stress_open(&s, mode, mails);
	r = stress_run(&s, mails, what);
	stress_close(&s);
	stressing = 0;
	return r;
}

static void
threads_lose_no_message_and_no_wake_up(void **st)
{
	(void)st;
	assert_int_equal(stress(INTEREST_EDGE, stress_mails(), 5000, MAILBOX_NO_BUG, "edge"), 0);
	assert_int_equal(
		stress(INTEREST_MERGED, stress_mails() / 4, 5000, MAILBOX_NO_BUG, "level"), 0);
}

/* The test above can fail: a wake-up that is left out is detected. */
static void
threads_notice_a_lost_wake_up(void **st)
{
	static const int bugs[] = { MAILBOX_NO_RECHECK, MAILBOX_EARLY_RUNNING,
				    MAILBOX_SKIPS_CHECKING };

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(bugs); i++)
		assert_int_equal(stress(INTEREST_EDGE, 20000000, 50, bugs[i], "planted"), 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_order_of_steps_loses_a_wake_up),
		cmocka_unit_test(planted_bugs_are_detected),
		cmocka_unit_test(functions_make_the_steps_of_the_model),
		cmocka_unit_test(threads_lose_no_message_and_no_wake_up),
		cmocka_unit_test(threads_notice_a_lost_wake_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
