/* The vocabulary of proxies: it lists the tables. Main thread, at start; only read after that. */
#include "proxy/config/vocab.h"

#include <string.h>

#include "proxy/filter/bwlim.h"
#include "proxy/filter/cache_filter.h"
#include "proxy/filter/compress.h"
#include "proxy/filter/spoe.h"
#include "proxy/sample/act_addr.h"
#include "proxy/sample/act_auth_request.h"
#include "proxy/sample/act_packet.h"
#include "proxy/sample/act_pause.h"
#include "proxy/sample/act_priority.h"
#include "proxy/sample/act_retries.h"
#include "proxy/sample/act_resolve.h"
#include "proxy/sample/act_track.h"
#include "proxy/sample/capture_rule.h"
#include "proxy/model/errors.h"
#include "proxy/sample/fetch.h"
#include "proxy/sample/table_word.h"
#include "proxy/log/stream_log.h"
#include "proxy/log/log_alias.h"
#include "rule/action/action.h"
#include "rule/match/tables.h"

void
proxy_vocab_init(struct rule_vocab *v)
{
	static const struct rule_action *const actions[] = { rule_head_actions, rule_uri_actions,
		rule_var_actions, rule_end_actions, rule_redirect_actions, rule_misc_actions,
		rule_auth_actions, rule_map_actions, rule_service_actions, capture_actions,
		endpoint_actions, resolve_actions, auth_request_actions, priority_actions,
		retries_actions, pause_actions, packet_actions, track_actions, bwlim_actions,
		cache_actions, spoe_actions, log_actions };
	int r;

	memset(v, 0, sizeof(*v));
	r = rule_tables_add(v);
	for (size_t i = 0; r == 0 && i < ARRAY_LEN(actions); i++)
		r = rule_vocab_add_actions(v, actions[i]);
	if (!r)
		r = rule_vocab_add_fetches(v, session_fetches);
	if (!r)
		r = rule_vocab_add_fetches(v, load_fetches);
	if (!r)
		r = rule_vocab_add_fetches(v, conn_fetches);
	if (!r)
		r = rule_vocab_add_fetches(v, h2_fetches);
	if (!r)
		r = rule_vocab_add_fetches(v, tls_fetches);
	if (!r)
		r = rule_vocab_add_fetches(v, tls_hello_fetches);
	if (!r)
		r = rule_vocab_add_fetches(v, userlist_fetches);
	if (!r)
		r = rule_vocab_add_fetches(v, compress_fetches);
	if (!r)
		r = rule_vocab_add_fetches(v, cache_fetches);
	if (!r)
		r = rule_vocab_add_convs(v, load_convs);
	if (!r)
		r = rule_vocab_add_convs(v, token_convs);
	if (!r)
		r = rule_vocab_add_convs(v, debug_convs);
	if (!r)
		r = rule_vocab_add_fetches(v, capture_fetches);
	if (!r)
		r = rule_vocab_add_convs(v, capture_convs);
	if (!r)
		r = rule_vocab_add_fetches(v, track_fetches);
	if (!r)
		r = rule_vocab_add_convs(v, table_convs);
	/* The number of tables is known at compile time. */
	assert(r == 0);
	(void)r;
	v->aliases = log_aliases;
	v->page = error_group_page;
}
