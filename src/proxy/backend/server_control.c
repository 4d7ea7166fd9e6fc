/* What the operator changes of a server. Runs while all workers stand still, or before they
 * start. */
#include "proxy/backend/server_control.h"

#include "base/atomic.h"
#include "base/err.h"
#include "proxy/backend/balance.h"

int
server_set_weight(struct server *s, int weight)
{
	if (weight < 0 || weight > SERVER_WEIGHT_MAX)
		return -ERR_RANGE;
	if (balance_is_static(s->be) && weight != 0 && weight != s->conf.weight)
		return -ERR_UNSUPPORTED;
	atomic_write(&s->uweight, weight);
	balance_refresh(s->be);
	return 0;
}

void
server_set_admin(struct server *s, enum server_admin admin, uint64_t now_ms)
{
	if (s->admin == admin)
		return;
	s->admin = admin;
	s->last_change_ms = now_ms;
	balance_refresh(s->be);
}
