#include "http/head.h"

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
	return "";
}
