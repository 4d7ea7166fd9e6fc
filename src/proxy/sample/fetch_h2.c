/* Fetches of the connections of HTTP/2 below a stream, where one of HTTP/1 or of mode tcp has a
 * single stream and no glitches; and which side has ended a stream too early, with any protocol. */
#include "h2/h2_xprt.h"
#include "proxy/model/http_txn.h"
#include "proxy/model/session.h"
#include "proxy/sample/fetch.h"

enum figure { GLITCHES, STREAMS, STREAMS_LIMIT, FIGURES };

static int64_t
figure_of_h2(const struct h2_conn *h2, enum figure f)
{
	switch (f) {
	case GLITCHES:
		return h2->glitches;
	case STREAMS:
		return h2->n_open;
	case STREAMS_LIMIT:
		return h2_conn_max_streams(h2);
	case FIGURES:
		break;
	}
	return 0;
}

static const struct conn *
connection_of_side(const struct rule_args *a, const struct stream *x)
{
	return x->conn[a->kind < FIGURES ? CLIENT : SERVER];
}

/* The kind is a figure, and FIGURES more on the server's side. */
static int
fetch_h2_figure(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	const struct stream *x = cx->stream;
	const struct conn *c = x ? connection_of_side(a, x) : NULL;
	enum figure f = (enum figure)(a->kind % FIGURES);
	const struct h2_xprt *h;

	if (!c || !conn_is_open(c))
		return 0;
	h = h2_xprt_below(c);
	sample_set_int(s, h ? figure_of_h2(&h->carrier->h2, f) : f != GLITCHES);
	return 1;
}

/* The code of a server's stream outlives it. */
static int
fetch_rst_code(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	const struct stream *x = cx->stream;
	const struct conn *c = x ? connection_of_side(a, x) : NULL;
	uint64_t code = 0;

	if (c && conn_is_open(c))
		code = h2_rst_of(c);
	else if (c && a->kind >= FIGURES && x->txn)
		code = x->txn->server_rst;
	sample_set_int(s, (int64_t)code - 1);
	return code != 0;
}

/* True if this side was the first to do so; a server that could not be reached has begun none. */
static int
fetch_aborted(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	const struct stream *x = cx->stream;
	int is_server = a->kind >= FIGURES;

	if (!x)
		return 0;
	sample_set_bool(s, is_server ? x->term[0] == 'S' &&
			(x->term[1] == 'H' || x->term[1] == 'D' || x->term[1] == 'L')
				     : x->term[0] == 'C');
	return 1;
}

#define ROW(n, where, fn, figure, text) \
	{ .name = n, .needs = where, .out = SAMPLE_SINT, .fetch = fn, .kind = figure, .doc = text }
#define H2(n, where, figure, text) ROW(n, where, fetch_h2_figure, figure, text)
#define ON_CLIENT SAMPLE_AT_CONN
#define ON_SERVER SAMPLE_AT_SERVER
#define GLITCHES_ARE "glitches: what it has sent over HTTP/2 that is allowed, but of no use; 0 " \
		     "with other protocols."
#define STREAMS_ARE "streams that are open on its connection; 1 without HTTP/2."
#define LIMIT_IS "streams that its connection may have open at once; 1 without HTTP/2."
#define CODE_IS "has reset this stream with, by RST_STREAM of HTTP/2; none if it has not."

#define ABORTED(n, where, figure, text) \
	{ .name = n, .needs = where, .out = SAMPLE_BOOL, .fetch = fetch_aborted, .kind = figure, \
	  .doc = text }
#define ENDS_EARLY "has ended this stream before its end, and first: by a reset, or a FIN that " \
		   "truncates a message. As termination codes that begin with "

const struct rule_fetch h2_fetches[] = {
	H2("bc_glitches", ON_SERVER, GLITCHES + FIGURES, "The server's number of " GLITCHES_ARE),
	H2("bc_nb_streams", ON_SERVER, STREAMS + FIGURES, "The server's number of " STREAMS_ARE),
	H2("bc_settings_streams_limit", ON_SERVER, STREAMS_LIMIT + FIGURES,
		"The server's number of " LIMIT_IS),
	ABORTED("bs.aborted", ON_SERVER, FIGURES,
		"True if the server " ENDS_EARLY "S, without SC."),
	ROW("bs.rst_code", ON_SERVER, fetch_rst_code, FIGURES, "The code that the server " CODE_IS),
	H2("fc_glitches", ON_CLIENT, GLITCHES, "The client's number of " GLITCHES_ARE),
	H2("fc_nb_streams", ON_CLIENT, STREAMS, "The client's number of " STREAMS_ARE),
	H2("fc_settings_streams_limit", ON_CLIENT, STREAMS_LIMIT,
		"The client's number of " LIMIT_IS),
	ABORTED("fs.aborted", ON_CLIENT, 0, "True if the client " ENDS_EARLY "C."),
	ROW("fs.rst_code", ON_CLIENT, fetch_rst_code, 0, "The code that the client " CODE_IS),
	{ .name = NULL },
};
