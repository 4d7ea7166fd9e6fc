/* Texts of errors. Pure, any thread. A reason is an errno or a row of err.tbl.h, of either sign. */
#include "base/err.h"

#include <string.h>

const char *
err_text(int reason)
{
	static const char *const texts[] = {
#define ERR_ROW(name, text) text,
#include "base/err.tbl.h"
#undef ERR_ROW
	};
	unsigned int e = reason < 0 ? 0u - (unsigned int)reason : (unsigned int)reason;

	if (e == 0)
		return "no error";
	if (e > ERR_FIRST && e < ERR_END_)
		return texts[e - ERR_FIRST - 1];
	return e < ERR_FIRST ? strerror((int)e) : "unknown reason";
}
