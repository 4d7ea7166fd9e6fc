/*
 * OpenSSL's headers, for src/tls only; headers of this folder that others include declare its types
 * themselves. `unused` is an attribute of ours (base/compiler.h), and the name of parameters there.
 */
#ifndef TACIT_TLS_OPENSSL_H
#define TACIT_TLS_OPENSSL_H

#pragma push_macro("unused")
#undef unused
#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/decoder.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/ocsp.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/provider.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>
#pragma pop_macro("unused")

#endif
