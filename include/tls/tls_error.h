/* OpenSSL's reasons as texts. Any thread: its queue of errors belongs to the thread. */
#ifndef TACIT_TLS_TLS_ERROR_H
#define TACIT_TLS_TLS_ERROR_H

#include <stddef.h>

#define TLS_ERROR_MAX 256

/* The reason of the first error in the queue, "no reason given" if there is none; empties the
 * queue. Returns out. */
const char *tls_error_take(char *out, size_t size);

#endif
