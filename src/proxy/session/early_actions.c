/* Actions of streams whose client has not sent yet the data that rules inspect. See actions.c. */
#include "proxy/model/count.h"
#include "proxy/model/termination.h"
#include "proxy/relay/direction.h"
#include "proxy/session/actions.h"
#include "proxy/session/tcp_content_rules.h"
#include "base/counter.h"

static enum stream_event
end_inspection(struct stream *s, char cause)
{
	stream_set_term(s, cause, 'R');
	count_failed_req(s);
	if (s->be)
		counter_add(&be_stat(s)->cli_abrt, 1);
	return stream_do_close(s);
}

enum stream_event
stream_do_inspect_abort(struct stream *s)
{
	return end_inspection(s, 'C');
}

enum stream_event
stream_do_inspect_timeout(struct stream *s)
{
	unsigned int ms = s->sess->fe->to.client;

	if (ms && s->last_ms[CLIENT] + ms <= stream_now_ms(s)) {
		stream_set_term(s, 'c', 'R');
		return STREAM_EV_CLIENT_GONE;
	}
	return tcp_content_decide(s);
}
