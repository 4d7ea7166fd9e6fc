/*
 * Rules of a filter of system calls (libseccomp), for the files that make one. Only in builds with
 * TACIT_SECCOMP, and not in those whose own calls are not known (TACIT_UNCONFINED).
 */
#ifndef TACIT_APP_PROCESS_CALL_RULES_H
#define TACIT_APP_PROCESS_CALL_RULES_H

#if defined(TACIT_SECCOMP) && !defined(TACIT_UNCONFINED)
#define TACIT_CALL_RULES 1

#include <seccomp.h>
#include <stdint.h>

#include "base/compiler.h"

enum { CALL_RULE_ARGS = 3 };

/* A call, when all these arguments match. */
struct call_rule {
	const char *name;
	struct scmp_arg_cmp args[CALL_RULE_ARGS];
	unsigned int n;
};

#define ARG_IS(i, value)                                                           \
	{ .arg = (i), .op = SCMP_CMP_EQ, .datum_a = (scmp_datum_t)(value) }
#define ARG_IS_NOT(i, value)                                                       \
	{ .arg = (i), .op = SCMP_CMP_NE, .datum_a = (scmp_datum_t)(value) }
#define ARG_BITS(i, mask, value)                                                   \
	{ .arg = (i), .op = SCMP_CMP_MASKED_EQ, .datum_a = (scmp_datum_t)(mask),   \
	  .datum_b = (scmp_datum_t)(value) }

/* An empty filter: `action` for what no rule names. It holds for all threads, and ends a process
 * that makes calls of another architecture. 0; -ENOSYS if the kernel has no such filter; another
 * -errno. */
int call_rules_begin(scmp_filter_ctx *out, uint32_t action) must_check;
/* No effect on architectures without a call of this name. 0 or -errno. */
int call_rules_add(scmp_filter_ctx ctx, uint32_t action, const struct call_rule *rule) must_check;
/* Has the filter hold from now on if `error` is 0, and frees it. Returns error, or a new one. */
int call_rules_end(scmp_filter_ctx ctx, int error) must_check;

#endif
#endif
