/* Actions on entries of stick tables (manual 4.4): track-sc, and those that change general purpose
 * counters and tags of what is tracked. */
#ifndef TACIT_PROXY_SAMPLE_ACT_TRACK_H
#define TACIT_PROXY_SAMPLE_ACT_TRACK_H

#include "rule/action/action.h"

/* Default and maximum of tune.stick-counters. */
#define TRACK_SLOTS_DEFAULT 3u
#define TRACK_SLOTS_MAX 100u

extern const struct rule_action track_actions[];

#endif
