/* The state of an HTTP/1 message while it arrives: how far its head and its body are parsed. */
#ifndef TACIT_HTTP_H1_MESSAGE_H
#define TACIT_HTTP_H1_MESSAGE_H

#include "http/h1_body.h"
#include "http/h1_parse.h"

/* Zeroed before the first byte of the message. */
struct h1_message {
	struct h1_parser parser;
	struct h1_body body;
};

#endif
