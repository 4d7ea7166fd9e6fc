/* Negative reasons. A function returns 0 or -ERR_x (or -errno where it is documented). */
#ifndef TACIT_BASE_ERR_H
#define TACIT_BASE_ERR_H

/* Above the kernel's largest errno (4095), so that one int can carry either. */
#define ERR_FIRST 5000

enum err {
	ERR_NONE = 0,
	ERR_BASE_ = ERR_FIRST,
#define ERR_ROW(name, text) ERR_##name,
#include "base/err.tbl.h"
#undef ERR_ROW
	ERR_END_
};

/* Text of a negative reason, ours or an errno; never NULL, static storage. */
const char *err_text(int reason);

#endif
