/*
 * The state of wanted and believed readiness, per fd and direction:
 *   INTEREST_ROW(state, WANT, STOP, AGAIN, READY)
 * IDLE     not wanted; believed ready (or never tried)
 * SPEC     wanted and believed ready: just try
 * BLOCKED  wanted; the kernel said not yet and must report when
 * PARKED   not wanted, and the kernel said not yet: do not try when it is wanted again
 * AGAIN stands for EAGAIN and for what is as good as it: a short read or write, or a fact known
 * without asking. READY stands for any event of that direction, HUP and ERR among them.
 * The order makes two bits of a state: INTEREST_WANTED_BIT, INTEREST_NOT_READY_BIT.
 */
INTEREST_ROW(IDLE,    SPEC,    IDLE,   PARKED,  IDLE)
INTEREST_ROW(SPEC,    SPEC,    IDLE,   BLOCKED, SPEC)
INTEREST_ROW(PARKED,  BLOCKED, PARKED, PARKED,  IDLE)
INTEREST_ROW(BLOCKED, BLOCKED, PARKED, BLOCKED, SPEC)
