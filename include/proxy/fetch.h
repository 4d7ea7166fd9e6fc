/* Fetches of the proxy layer (manual 7.3.2, 7.3.3): of sessions, and of how busy things are. */
#ifndef TACIT_PROXY_FETCH_H
#define TACIT_PROXY_FETCH_H

#include "rule/vocab.h"

extern const struct rule_fetch session_fetches[];
extern const struct rule_fetch load_fetches[];

#endif
