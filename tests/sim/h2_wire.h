/*
 * HTTP/2 in a world: the wire of a client, whose script has requests and answers of HTTP/1. Each
 * request is a stream of its own; they are sent as they come in the script, and their answers are
 * given in the same order, each as a whole: field names in lower case, without reason, a body
 * without a length in chunks. A stream that was reset gives the text "RST <code>\n". The text
 * "RST\n" in place of a request resets the last one.
 */
#ifndef TACIT_SIM_H2_WIRE_H
#define TACIT_SIM_H2_WIRE_H

#include "fake/wire.h"

struct wire *h2_wire_new(void);

#endif
