/* What the files of captures share. */
#ifndef TACIT_PROXY_SAMPLE_CAPTURE_INT_H
#define TACIT_PROXY_SAMPLE_CAPTURE_INT_H

#include "proxy/sample/capture.h"
#include "proxy/model/session.h"

/* The length of what was not captured. */
#define CAPTURE_NONE UINT32_MAX

/* The length of each text, in the order of the kinds; their bytes follow. */
struct captures {
	uint32_t len[1];
};

#endif
