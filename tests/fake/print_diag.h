/* The messages about a configuration, as text in a file. */
#ifndef TACIT_FAKE_PRINT_DIAG_H
#define TACIT_FAKE_PRINT_DIAG_H

#include <stdio.h>

#include "base/sbuf.h"
#include "cfg/diag.h"

static inline void
print_diag(const struct cfg_diag *d, FILE *to, int quiet)
{
	struct sbuf text;

	sbuf_init(&text, 0);
	cfg_diag_text(d, &text, quiet);
	if (text.len)
		fputs(text.p, to);
	sbuf_fini(&text);
}

#endif
