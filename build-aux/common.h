/* The headers that most files of some folders include, compiled once: see build.mk. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/config/config.h"
#include "proxy/model/session.h"
#include "tls/transport.h"
