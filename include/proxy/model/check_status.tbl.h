/*
 * Results of checks: CHECK_STATUS(id, result, code, text). Codes and texts are those of HAProxy's
 * management manual (9.1, check_status) and logs.
 */
CHECK_STATUS(UNK, UNKNOWN, "UNK", "Unknown")
CHECK_STATUS(INI, UNKNOWN, "INI", "Initializing")
CHECK_STATUS(CHECKED, NEUTRAL, "CHECKED", "No status change")
CHECK_STATUS(SOCKERR, FAILED, "SOCKERR", "Socket error")
CHECK_STATUS(L4OK, PASSED, "L4OK", "Layer4 check passed")
CHECK_STATUS(L4TOUT, FAILED, "L4TOUT", "Layer4 timeout")
CHECK_STATUS(L4CON, FAILED, "L4CON", "Layer4 connection problem")
CHECK_STATUS(L6OK, PASSED, "L6OK", "Layer6 check passed")
CHECK_STATUS(L6TOUT, FAILED, "L6TOUT", "Layer6 timeout")
CHECK_STATUS(L6RSP, FAILED, "L6RSP", "Layer6 invalid response")
CHECK_STATUS(L7TOUT, FAILED, "L7TOUT", "Layer7 timeout")
CHECK_STATUS(L7RSP, FAILED, "L7RSP", "Layer7 invalid response")
CHECK_STATUS(L7OK, PASSED, "L7OK", "Layer7 check passed")
CHECK_STATUS(L7OKC, CONDPASS, "L7OKC", "Layer7 check conditionally passed")
CHECK_STATUS(L7STS, FAILED, "L7STS", "Layer7 wrong status")
CHECK_STATUS(HANA, FAILED, "HANA", "Health analyze")
CHECK_STATUS(PROCERR, FAILED, "PROCERR", "External check error")
CHECK_STATUS(PROCTOUT, FAILED, "PROCTOUT", "External check timeout")
CHECK_STATUS(PROCOK, PASSED, "PROCOK", "External check passed")
