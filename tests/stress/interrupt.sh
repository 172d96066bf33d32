#!/usr/bin/env bash
# SIGINT at random moments of put and of verify (ROUNDS=40 each): it ends by
# that signal, or had done its work; nothing is half done and nothing is left,
# at once, without a next writer.

# shellcheck source=tests/stress/lib.bash
. "$(dirname "$0")/lib.bash"
need_catalogue
need python3
ROUNDS=${ROUNDS:-40}
ADDED=22843

# interrupt SECONDS COMMAND…: its status, 128 + n after signal n. (What a
# shell starts in the background has SIGINT ignored, which kistore respects.)
interrupt() {
	python3 -c 'import signal, subprocess, sys, time
signal.signal(signal.SIGINT, signal.SIG_DFL)
p = subprocess.Popen(sys.argv[2:], stdout=open("out", "wb"),
    stderr=open("err", "wb"))
time.sleep(float(sys.argv[1]))
p.send_signal(signal.SIGINT)
code = p.wait()
sys.exit(code if code >= 0 else 128 - code)' "$@"
}

fresh() {
	rm -rf store
	"$KISTORE" init store >out 2>err || die "init"
}

moment() {
	awk -v d="$1" -v r="$RANDOM" 'BEGIN { printf "%.4f", d * r / 32768 }'
}

fresh
start=$(seconds)
"$KISTORE" -C store put "$CATALOGUE" >out 2>err || die "put"
put_takes=$(since "$start")
start=$(seconds)
clean store "put"
verify_takes=$(since "$start")

cut=0
before=$(head_of store)
for ((round = 1; round <= ROUNDS; round++)); do
	interrupt "$(moment "$verify_takes")" "$KISTORE" -C store verify
	status=$?
	case $status in
	130) cut=$((cut + 1)) ;;
	0) ;;
	*) die "verify: status $status" ;;
	esac
	[ "$(head_of store)" = "$before" ] || die "verify changed HEAD"
	no_leftovers store "verify, round $round"
done
say "verify: $ROUNDS times, $cut of them cut off with status 130"

cut=0
fresh
for ((round = 1; round <= ROUNDS; round++)); do
	old=$(head_of store)
	interrupt "$(moment "$put_takes")" "$KISTORE" -C store put "$CATALOGUE"
	status=$?
	old_or_new store "$old" $((1 + ADDED)) "put, round $round"
	case $status,$state in
	130,old) cut=$((cut + 1)) ;;
	0,new | 130,new) ;;
	*) die "put: status $status, $state state" ;;
	esac
	no_leftovers store "put, round $round"
	clean store "put, round $round"
	[ "$(git -C store fsck --unreachable --no-reflogs 2>&1 | wc -l)" -eq 0 ] ||
		die "put, round $round: git objects that nothing leads to"
	[ "$state" = old ] || fresh
done
say "ok; put: $ROUNDS times, $cut of them cut off with status 130"
