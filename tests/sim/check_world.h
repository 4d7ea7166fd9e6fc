/*
 * Health checks in a simulated world, for tests that compare each state of a server with a model:
 * the model (check_model.c), one check (check_try.c), the world (check_world.c) and random worlds
 * (check_random.c). Users: test_check_simulation.c, test_torture_checks.c.
 */
#ifndef TACIT_SIM_CHECK_WORLD_H
#define TACIT_SIM_CHECK_WORLD_H

#include "fake/kernel.h"
#include "proxy/model/proxies.h"
#include "sim/dice.h"
#include "sim/world.h"

/*
 * A server as its health checks see it, written from the manual alone (configuration.txt 5.2:
 * check, rise, fall, inter, fastinter, downinter, init-state; 4.2: http-check disable-on-404;
 * management.txt 9.1: status). The simulation compares tacit with it.
 */

#define CHECK_MODEL_TEXT 32

enum check_model_begin { MODEL_UP, MODEL_FULLY_UP, MODEL_DOWN, MODEL_FULLY_DOWN };

enum check_model_answer { MODEL_FAILED, MODEL_PASSED, MODEL_404 };

struct check_model {
	unsigned int rise, fall;
	unsigned int inter, fastinter, downinter; /* ms; 0: not set */
	int takes_404;    /* http-check disable-on-404 */
	int is_up;
	int is_stopping;  /* up, and the last answer was 404: no new sessions */
	/* Consecutive results against the state; the state changes at `fall` or `rise`. */
	unsigned int streak;
	int is_last_word; /* unchecked, and the first result decides */
	unsigned int downs;
};

void check_model_begin(struct check_model *m, enum check_model_begin how);
void check_model_result(struct check_model *m, enum check_model_answer answer);
/* The interval until the next check, in ms. */
unsigned int check_model_interval(const struct check_model *m);
/* The status in show stat: "UP", "DOWN", "NOLB", "UP 1/3" (valid checks left of fall), "DOWN 1/2"
 * (had of rise). */
const char *check_model_text(const struct check_model *m, char buf[CHECK_MODEL_TEXT]);

/*
 * One check as the checked server sees it: what the network and the server do with it, and from
 * that when it ends and how, whatever tacit makes of it.
 */

enum check_how { TRY_CONNECT, TRY_TCP, TRY_HTTP, TRY_HTTP2, TRY_HOWS };

enum check_try_kind {
	/* passes */
	TRY_WHOLE,      /* the answer at once */
	TRY_PIECES,     /* bytes and pauses */
	TRY_PASSES,     /* the number of those */
	/* fails */
	TRY_REFUSED = TRY_PASSES,
	TRY_BLACKHOLE,
	TRY_FAR_LATE,   /* connected after the deadline */
	TRY_SILENT,     /* from here on not for TRY_CONNECT */
	TRY_LATE,       /* a good answer after the deadline */
	TRY_WRONG,
	TRY_WRONG_PIECES,
	TRY_CLOSE,      /* instead of an answer */
	TRY_CUT,        /* the first half of a good answer, then FIN */
	TRY_CUT_RESET,
	TRY_RESET,      /* once the request is there */
	TRY_404,        /* of HTTP; of TCP a wrong answer */
	TRY_KINDS
};

struct check_try {
	enum check_how how;
	enum check_try_kind kind;
	struct dice *dice;
	unsigned int server, port;
	uint64_t start, deadline; /* ns */
	uint64_t one_way;
	/* The result; until the server has sent something it is that of the deadline. */
	uint64_t verdict_at;
	enum check_model_answer passes;
	int applied;        /* by the test */
	/* The server's end of the connection. */
	struct fake *k;
	struct fake_sock *s; /* NULL: not accepted yet */
	char asked[1000];
	size_t n_asked;
	struct str text;
	size_t len, sent, stop; /* of it; stop: the next pause */
	uint64_t gap;       /* ns, between pieces */
	int planned, closed;
};

/* The time for a check, in ms; check: `timeout check`, or 0. */
struct check_limits {
	unsigned int inter, connect, check;
};

/*
 * Called when the connection is opened: sets the route and the result that follows from it.
 * one_way: 0 for a near server.
 */
void check_try_begin(struct check_try *t, struct fake *k, const struct check_limits *limits,
	uint64_t one_way);
/* The server has accepted its connection. */
void check_try_accepted(struct check_try *t, struct fake_sock *s);

/*
 * A world (sim/world.h) whose servers are checked, each on a port of its own: the outcome of a
 * check is decided when it begins, and when judged is set the state of each server is compared
 * with the model's between any two turns.
 */

#define CHECK_WORLD_PORT 3000 /* of the first server's checks */
#define CHECK_WORLD_TRIES 16384

struct check_world;

struct check_plan {
	enum check_how how;
	struct check_limits limits;      /* inter: of each server */
	unsigned int spread;
	int judged;
	int shutdown;                    /* on-marked-down shutdown-sessions */
	int takes_404;                   /* http-check disable-on-404 */
	/* Chooses the outcome of a server's next check; *one_way is 0. */
	enum check_try_kind (*choose)(struct check_world *c, unsigned int server,
		uint64_t *one_way);
	/* rise, fall and intervals of each server, and how it begins */
	struct check_model server[WORLD_SERVERS];
	enum check_model_begin begin[WORLD_SERVERS];
};

struct check_world_server {
	struct check_model model;
	struct check_try *last;          /* the current check, or the last one; NULL: none yet */
	unsigned int n_tries, n_passed, n_failed, n_404, n_shown;
	/* For choose(). */
	unsigned int left;               /* of a series of equal results */
	int passes;
};

struct check_world {
	struct world w;                  /* w.arg is the check_world */
	struct check_plan plan;
	struct dice *dice;
	struct checker *checker;
	struct fake_sock *listener[WORLD_SERVERS];
	struct check_world_server srv[WORLD_SERVERS];
	uint64_t began, until;           /* ns */
	unsigned int n_tries, n_assigned, n_refused;
	struct check_try try[CHECK_WORLD_TRIES];
};

/* Opens the world. 0, or -1 with c->w.why. */
int check_world_open(struct check_world *c, const struct world_config *cfg,
	const struct check_plan *plan, struct dice *d);
/* Opens the checker, unless it is there or memory is short, and runs for this time, and until all
 * clients are done. */
void check_world_run(struct check_world *c, uint64_t ns);
/* 0, or -1 with c->w.why. */
int check_world_close(struct check_world *c);
/* The status of a server, as in show stat. */
const char *check_world_status(const struct check_world *c, unsigned int server,
	char buf[160]);

/*
 * Random worlds with checks: servers that answer in pieces, late, wrong, with a reset or not at
 * all, in series of equal results around rise and fall; sessions all the time.
 */

struct check_random_result {
	unsigned int checks, passed, failed, gone, downs; /* gone: 404 */
	unsigned int shown; /* states compared */
	unsigned int assigned, refused; /* sessions */
	char why[500];      /* "" if nothing is wrong */
};

/* Plays one world. 0, or -1 with r->why. */
int check_random_play(struct dice *d, int show, struct check_random_result *r);

#endif
