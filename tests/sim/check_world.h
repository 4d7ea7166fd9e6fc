/*
 * A world (sim/world.h) whose servers are checked, each on a port of its own: the outcome of a
 * check is decided when it begins, and when judged is set the state of each server is compared
 * with the model's between any two turns.
 */
#ifndef TACIT_SIM_CHECK_WORLD_H
#define TACIT_SIM_CHECK_WORLD_H

#include "proxy/model/proxies.h"
#include "sim/check_model.h"
#include "sim/check_try.h"
#include "sim/world.h"

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

#endif
