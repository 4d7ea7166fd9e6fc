/* A check of a server: its settings at run time and its last result. Belongs to the first
 * worker. */
#ifndef TACIT_PROXY_MODEL_CHECK_H
#define TACIT_PROXY_MODEL_CHECK_H

#include <stdint.h>

#include "proxy/model/check_conf.h"

struct check_run;
struct server;

/* Maximum length of a result's text, with its end (last_chk). */
#define CHECK_INFO_MAX 512

struct check {
	struct server *srv;
	uint8_t is_agent;
	uint8_t enabled;         /* not disabled by the operator */
	uint8_t is_running;      /* now; the last result is that of the one before */
	int rise, fall;
	enum check_init_state init_state;
	int health;              /* 0 to rise + fall - 1; the server is up from `rise` on */
	/* The last result. */
	enum check_status status;
	int code;                /* of the response; 0: none */
	unsigned int duration_ms;
	char info[CHECK_INFO_MAX];
	uint64_t fails;          /* failed checks of a server that was not fully down (chkfail) */
	uint64_t observed_fails; /* errors of its sessions (hanafail) */
	struct check_run *run;   /* owned by proxy/check; NULL: not started */
};

/* True if the result has a code: those of an answer that was understood. */
static inline int
check_has_code(const struct check *c)
{
	return c->status == CHECK_L7OK || c->status == CHECK_L7OKC || c->status == CHECK_L7STS ||
		c->status == CHECK_PROCERR || c->status == CHECK_PROCTOUT ||
		c->status == CHECK_PROCOK;
}

/* True if the result comes from a check, not from sessions (observe). */
static inline int
check_has_duration(const struct check *c)
{
	return c->status != CHECK_HANA;
}

static inline int
check_full_health(const struct check *c)
{
	return c->rise + c->fall - 1;
}

/* The health of a server that has not been checked yet, or is checked again (init-state). */
static inline int
check_initial_health(const struct check *c)
{
	switch (c->init_state) {
	case CHECK_INIT_FULLY_UP:
		return check_full_health(c);
	case CHECK_INIT_DOWN:
		return c->rise - 1;
	case CHECK_INIT_FULLY_DOWN:
		return 0;
	case CHECK_INIT_UP:
		break;
	}
	return c->rise;
}

#endif
