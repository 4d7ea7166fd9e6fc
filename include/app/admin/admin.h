/*
 * The admin socket (`stats socket`, management manual 9.3): line-based commands whose responses end
 * with an empty line. One line per connection, or an interactive session after `prompt`.
 */
#ifndef TACIT_APP_ADMIN_ADMIN_H
#define TACIT_APP_ADMIN_ADMIN_H

#include "cfg/entry.h"

struct process_service;

extern const struct process_service admin_service;

/* Calls fn for each command: tacit(8). */
void admin_entries(cfg_entry_fn *fn, void *arg);

#endif
