/*
 * getpid() of this program, for the libraries in it. OpenSSL 3 asks for the number of the process
 * each time it draws random bytes, nine times in a handshake, to notice a fork. The answer changes
 * with a fork only, so it is kept in a page that the kernel empties in the child (MADV_WIPEONFORK):
 * there the next call asks again, however the child was made.
 */
#ifndef TACIT_APP_MAIN_OWN_PID_H
#define TACIT_APP_MAIN_OWN_PID_H

/* Stores the pid in this page, so that getpid() asks the kernel once in each process. The page
 * is zero, has MADV_WIPEONFORK, and is never unmapped. Without a page each call asks, as libc's
 * does. */
void own_pid_keep(_Atomic int *page);

#endif
