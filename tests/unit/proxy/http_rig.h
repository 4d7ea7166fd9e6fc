/* Dialogues in mode http on the fake kernel: scripts of texts, and what each end must receive. */
#ifndef TESTS_UNIT_PROXY_HTTP_RIG_H
#define TESTS_UNIT_PROXY_HTTP_RIG_H

#include "session_rig.h"
#include "sim/http_texts.h"
#include "unit/test.h"

#define HTTP_WORLD RIG_WORLD, .http = 1
/* A client with one request. An origin that reads a request head and then plays the steps. One that
 * sends a 200. */
#define CLIENT_GET .client = { SAY(GET "\r\n"), EOF_CLOSE }
#define REPLY(...) .origin = { AWAIT("\r\n\r\n"), __VA_ARGS__ }
#define REPLY_OK REPLY(SAY(OK2 "\r\nok"), EOF_CLOSE)
#define OK2 "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n"

struct http_dialogue {
	const char *name;
	struct world_config cfg;
	struct step client[AGENT_STEPS], origin[AGENT_STEPS];
	const char *to_server; /* received by the origin on its first connection; NULL: any */
	const char *to_client; /* all that the client received */
	const char *terms;
	unsigned int served;   /* number of connections to the origin */
	int reuses;            /* they may carry several requests */
};

static inline void
http_play(const struct http_dialogue *d)
{
	struct world_config cfg = d->cfg;

	cfg.http = 1;
	if (!d->reuses && !cfg.persistence)
		cfg.persistence = HTTP_SERVER_CLOSE;
	rig_play(&cfg, d->client, d->origin);
	if (d->to_server && strcmp(w.served[0].text, d->to_server) != 0)
		fail_msg("%s: the server read \"%s\"", d->name, w.served[0].text);
	if (d->to_client && strcmp(w.client[0].text, d->to_client) != 0)
		fail_msg("%s: the client read \"%s\"", d->name, w.client[0].text);
	if (strcmp(rig_terms(), d->terms) != 0)
		fail_msg("%s: ends are %s", d->name, rig_terms());
	if (w.n_served != d->served)
		fail_msg("%s: %u connections to the origin", d->name, w.n_served);
	rig_close();
}

static inline void
http_play_all(const struct http_dialogue *d, size_t n)
{
	for (size_t i = 0; i < n; i++)
		http_play(&d[i]);
}

#endif
