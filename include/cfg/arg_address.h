#ifndef TACIT_CFG_ARG_ADDRESS_H
#define TACIT_CFG_ARG_ADDRESS_H

#include "base/compiler.h"

struct cfg_ctx;

enum { CFG_ADDRESS_MAX = 4096 };	/* bytes of an address with its variables, and a NUL */

/*
 * Argument i, an address, with its variables replaced ($NAME, ${NAME}), outside of quotes too; one
 * that does not exist is empty. The text lies in the line or in buf. Commands of the admin socket
 * have no variables. NULL: the address is too long, which is reported.
 */
const char *cfg_arg_address(struct cfg_ctx *ctx, int i, char buf[CFG_ADDRESS_MAX]) must_check;

#endif
