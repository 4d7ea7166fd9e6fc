/* Shared by the files of captures. */
#ifndef TACIT_PROXY_SAMPLE_CAPTURE_INT_H
#define TACIT_PROXY_SAMPLE_CAPTURE_INT_H

#include "proxy/sample/capture.h"
#include "proxy/model/session.h"

/* Length value of an empty slot. */
#define CAPTURE_NONE UINT32_MAX

/* The length of each text, in order of the slots; their bytes follow. */
struct captures {
	uint32_t len[1];
};

#endif
