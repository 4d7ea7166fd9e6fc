/* The version of OpenSSL that the program was built with. Constant data. */
#include "tls/tls_version.h"

#include "tls/openssl.h"

const char *const tls_version_name = OPENSSL_VERSION_TEXT;
const char *const tls_version_number = OPENSSL_VERSION_STR;
