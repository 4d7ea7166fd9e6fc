/* States and weights of servers, set without an engine. */
#ifndef TESTS_UNIT_PROXY_STATES_H
#define TESTS_UNIT_PROXY_STATES_H

#include "proxy/backend/server_state.h"
#include "proxy/model/proxy.h"

static const unsigned int forced_states[] = { SERVER_READY, SERVER_MAINT_FORCED,
	SERVER_DRAIN_FORCED };

static inline void
put_admin(struct server *s, unsigned int admin, uint64_t now_ms)
{
	lock_take(&s->be->lock, NULL);
	server_put_state_locked(s, (struct server_state){ admin, s->oper }, now_ms);
	lock_drop(&s->be->lock);
}

static inline int
put_weight(struct server *s, int weight)
{
	int r;

	lock_take(&s->be->lock, NULL);
	r = server_put_weight_locked(s, weight);
	lock_drop(&s->be->lock);
	return r;
}

#endif
