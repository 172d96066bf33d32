# Adds up the lines of counts that tap.awk wrote; see check.sh.

/: [0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$/ {
	passed += $(NF - 5)
	failed += $(NF - 3)
	skipped += $(NF - 1)
}

END {
	if (passed + failed + skipped == 0) {
		print "no tests were run"
		failed = 1
	}
	printf "%d passed, %d failed", passed, failed
	if (skipped > 0)
		printf ", %d skipped", skipped
	print ""
	exit failed > 0
}
