/* Counts in shards: see count.h. On the worker whose shards they are. */
#include "proxy/model/count.h"

#include "tls/conn_info.h"

void
count_handshake(struct handshake_stat *st, const struct conn *c)
{
	int64_t is_resumed;

	if (tls_info_number(c, TLS_INFO_IS_RESUMED, &is_resumed) < 0)
		return;
	counter_add(is_resumed ? &st->resumed : &st->full, 1);
}
