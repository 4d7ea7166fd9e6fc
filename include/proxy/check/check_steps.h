/* The steps of rules that send, expect and set variables. On the first worker. */
#ifndef TACIT_PROXY_CHECK_CHECK_STEPS_H
#define TACIT_PROXY_CHECK_CHECK_STEPS_H

#include "proxy/check/check_expect.h"
#include "proxy/check/check_run.h"

check_step_fn check_send_begin, check_send_proceed;
check_step_fn check_expect_begin, check_expect_proceed;
check_step_fn check_var_begin;

/* Forgets the bytes to send or received. */
void check_bytes_drop(struct check_run *r);

#endif
