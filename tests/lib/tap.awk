# Reads the TAP output of one test program and prints one line of counts,
#
#	unit.test_buf: 12 passed, 0 failed, 0 skipped
#
# before it the failed tests with their comments, and the reasons of skipped
# ones. A program that ended before its plan was done, or with a failure that
# no test explains, counts as one more failure.

/^1\.\.[0-9]+/ { plan = substr($1, 4) + 0; planned = 1; next }

# cmocka writes "not ok 3 # SKIP name", bats "ok 3 name # skip reason".
/^(not )?ok [0-9]+.*# (SKIP|skip)/ {
	skipped++
	reason = $0
	sub(/.*# (SKIP|skip) ?/, "", reason)
	reasons[reason == "" ? "no reason given" : reason]++
	showing = 0
	next
}
/^ok [0-9]+/ { passed++; showing = 0; next }
/^not ok [0-9]+/ { failed++; showing = 1; print name ": " $0; next }
/^# exit status / { status = $4 + 0; next }
{ last[NR] = $0 }
showing { print "    " $0 }

END {
	if (!planned || passed + failed + skipped != plan ||
	    (status != 0 && failed == 0 && !only_skips())) {
		failed++
		print name ": ended with status " status " after " \
			(passed + failed + skipped - 1) " of " (plan + 0) " tests"
		for (i = (NR > 40 ? NR - 40 : 1); i <= NR; i++)
			if (i in last)
				print "    " last[i]
	}
	for (reason in reasons)
		print name ": skipped: " reason
	print name ": " passed + 0 " passed, " failed + 0 " failed, " \
		skipped + 0 " skipped"
}

# cmocka may end with a status other than 0 for skipped tests alone.
function only_skips() {
	return skipped > 0 && status == 1
}
