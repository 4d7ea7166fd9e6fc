/* Reason phrases, one for each row of status.tbl.h. Constant data. */
#include "http/status.h"

static const char *const classes[] = { "Other", "Informational", "Success", "Redirection",
	"Client Error", "Server Error" };

const char *
http_status_reason(unsigned int status)
{
	switch (status) {
#define HTTP_STATUS(code, phrase) \
	case code: \
		return phrase;
#include "http/status.tbl.h"
#undef HTTP_STATUS
	}
	return status < 600 ? classes[status / 100] : "Other";
}
