/* The compressor of a worker, and how much it has done. */
#ifndef TACIT_PROXY_MODEL_COMPRESSION_H
#define TACIT_PROXY_MODEL_COMPRESSION_H

#include "base/freq.h"
#include "http/deflate.h"

struct compression {
	struct deflate *deflate;
	_Atomic uint64_t memory; /* bytes of the bodies that have a compressor of their own */
	struct freq in, out; /* bytes in a second */
};

#endif
