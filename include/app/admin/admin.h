/*
 * The admin socket (`stats socket`, management manual 9.3): commands in lines, answers that end
 * with an empty line. One line and close, or a dialogue after `prompt`.
 */
#ifndef TACIT_APP_ADMIN_ADMIN_H
#define TACIT_APP_ADMIN_ADMIN_H

struct process_service;

extern const struct process_service admin_service;

#endif
