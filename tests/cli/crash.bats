#!/usr/bin/env bats
# Death, interruption and company: short forms of what `make check-stress`
# does at length (tests/stress).

load ../lib/common
load ../lib/hostile

prepare() {
	"$KISTORE" -q init s.git
	manifest old >old.json
	manifest new >new.json
	"$KISTORE" -q -C s.git put old.json >receipt
	digest=$(cut -d' ' -f1 receipt)
}

# sound STORE OLD ENTRIES: verify is clean, HEAD is OLD or its child, which has
# so many entries; then a writer works and sweeps.
sound() {
	expect 0 "$KISTORE" -C "$1" verify
	now=$(git -C "$1" rev-parse HEAD)
	if [ "$now" != "$2" ]; then
		[ "$(git -C "$1" rev-parse HEAD^)" = "$2" ]
		[ "$("$KISTORE" -C "$1" log --root | cut -d' ' -f1)" = "$3" ]
	fi
	expect 0 "$KISTORE" -C "$1" put old.json
	leftovers "$1" >left
	cat left
	[ ! -s left ]
}

# killed_everywhere STORE: before each rename, link and unlink of a put.
killed_everywhere() {
	local call n old count=0
	old=$(git -C "$1" rev-parse HEAD)
	for call in rename renameat link unlink; do
		n=1
		while :; do
			rm -rf copy
			cp -a "$1" copy
			dies_at "$call" "$n" "$KISTORE" -C copy put new.json ||
				break
			sound copy "$old" 3
			expect 0 "$KISTORE" -C copy put new.json
			n=$((n + 1))
			count=$((count + 1))
		done
	done
	# The last one was not hit.
	expect 0 "$KISTORE" -C copy resolve new
	expect 0 "$KISTORE" -C copy verify
	[ "$count" -ge 8 ]
}

@test "killed before each rename, link and unlink: the old state or the new" {
	need_strace
	killed_everywhere s.git
}

@test "the same with a work tree, which is brought up to date" {
	need_strace
	"$KISTORE" -q init --worktree tree
	"$KISTORE" -q -C tree put old.json
	killed_everywhere tree
	[ -z "$(git -C copy status --porcelain)" ]
}

@test "a pack that a dead writer left without its branch goes" {
	need_strace
	old=$(git -C s.git rev-parse HEAD)
	for n in 1 2 3 4; do
		dies_at rename "$n" "$KISTORE" -C s.git put new.json
		[ "$(git -C s.git rev-parse HEAD)" = "$old" ]
		sound s.git "$old" 2
		[ -z "$(git -C s.git fsck --unreachable --no-reflogs)" ]
		[ "$(find s.git -name '*.pack' | wc -l)" -eq 2 ]
	done
}

@test "a pack that somebody keeps, and one that a branch needs, stay" {
	pack=$(find s.git -name '*.pack' | head -n 1)
	echo 'mine' >"${pack%.pack}.keep"
	expect 0 "$KISTORE" -C s.git put new.json
	[ "$(cat "${pack%.pack}.keep")" = mine ]
	rm "${pack%.pack}.keep"
	# As if a writer had died after the branch moved, and somebody had
	# gone on from there on another branch.
	newest=$(git -C s.git rev-parse HEAD)
	for pack in s.git/objects/pack/*.pack; do
		printf 'kistore %s\n' "$newest" >"${pack%.pack}.keep"
	done
	git -C s.git branch other
	git -C s.git update-ref refs/heads/main HEAD~
	sound s.git "$(git -C s.git rev-parse HEAD)" 2
	git -C s.git fsck --strict
	git -C s.git rev-parse 'other^{tree}'
	git -C s.git update-ref refs/heads/main other
	expect 0 "$KISTORE" -C s.git verify
}

@test "killed at random moments of a larger put" {
	old=$(git -C s.git rev-parse HEAD)
	for ms in 1 3 5 8 12 20 30 45 70 110 160 230; do
		(
			"$KISTORE" -C s.git put \
				"$REPO/fixtures/liger-runs.jsonl" >out 2>err &
			sleep "$(printf '0.%03d' "$ms")"
			kill -9 $!
			wait $!
		) 2>/dev/null || true
		sound s.git "$old" 247
		[ "$(git -C s.git rev-parse HEAD)" = "$old" ] || break
	done
	expect 0 "$KISTORE" -C s.git put "$REPO/fixtures/liger-runs.jsonl"
	expect 0 "$KISTORE" -C s.git verify
	[ "$("$KISTORE" -C s.git log --root | cut -d' ' -f1)" = 247 ]
}

interruptible() {
	python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execvp(sys.argv[1], sys.argv[1:])' "$@"
}

# interrupt COMMAND…: SIGINT after 0.3 s; $status is 128 + n after signal n.
# (What a shell starts in the background has SIGINT ignored, which kistore
# respects.)
interrupt() {
	try python3 -c 'import signal, subprocess, sys, time
signal.signal(signal.SIGINT, signal.SIG_DFL)
p = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE)
time.sleep(0.3)
p.send_signal(signal.SIGINT)
code = p.wait(20)
sys.exit(code if code >= 0 else 128 - code)' "$@"
}

@test "SIGINT while put reads its input: ended by it, and nothing changed" {
	keep_state s.git
	interrupt "$KISTORE" -C s.git put -
	[ "$status" -eq 130 ]
	silent_out
	unchanged s.git
	[ -z "$(leftovers s.git)" ]
}

@test "SIGINT while put waits for the lock: ended by it, and nothing changed" {
	need_command flock
	keep_state s.git
	flock s.git/kistore.lock sleep 20 3>&- &
	holder=$!
	until ! flock -n s.git/kistore.lock true; do sleep 0.05; done
	interrupt "$KISTORE" -C s.git put --wait 20 new.json
	pkill -P "$holder" || true
	[ "$status" -eq 130 ]
	silent_out
	unchanged s.git
}

@test "SIGINT in the middle of verify: ended by it, never status 0" {
	need_strace
	"$KISTORE" -q -C s.git put "$REPO/fixtures/liger-runs.jsonl" >out
	# One file an object.
	git -C s.git repack -a -d -q
	mv s.git/objects/pack/*.pack .
	rm -f s.git/objects/pack/*
	for pack in *.pack; do git -C s.git unpack-objects -q <"$pack"; done
	expect 0 "$KISTORE" -C s.git verify
	keep_state s.git
	try interruptible strace -f -qq -o /dev/null -e trace=openat \
		-e inject=openat:signal=INT:when=80 "$KISTORE" -C s.git verify
	[ "$status" -eq 130 ]
	! grep -q 'nothing wrong' "$OUT" || return 1
	unchanged s.git
}

@test "four writers and a reader at once: nobody fails, nothing is lost" {
	writer() {
		for n in 1 2 3 4 5 6 7 8; do
			manifest "w$1-$n" | "$KISTORE" -q -C s.git put \
				--wait 100 - >"put.$1" 2>"err.$1" ||
				echo "put $1 $n" >>failed
		done
	}
	reader() {
		while [ ! -e stop ]; do
			"$KISTORE" -C s.git verify >seen 2>&1 ||
				cat seen >>failed
			"$KISTORE" -C s.git get "$digest" >seen 2>&1 ||
				cat seen >>failed
			[ "$("$KISTORE" -C s.git resolve old 2>&1)" = \
				"$digest" ] || echo resolve >>failed
		done
	}
	reader 3>&- &
	pids=
	for w in 1 2 3 4; do
		writer "$w" 3>&- &
		pids="$pids $!"
	done
	# shellcheck disable=SC2086 # many
	wait $pids
	touch stop
	wait
	[ ! -e failed ] || { cat failed; false; }
	expect 0 "$KISTORE" -C s.git verify
	grep -q '^checked 33 objects' "$OUT"
	[ -z "$(leftovers s.git)" ]
	[ -z "$(git -C s.git fsck --strict 2>&1)" ]
}

@test "git gc and git repack beside puts take nothing away" {
	keep_house() {
		while [ ! -e stop ]; do
			git -C s.git gc --quiet 2>&1 &&
				git -C s.git repack -a -d -q 2>&1 &&
				"$KISTORE" -q -C s.git gc 2>&1 ||
				echo "house" >>failed
		done >house
	}
	keep_house 3>&- &
	for n in $(seq 12); do
		manifest "n-$n" | "$KISTORE" -q -C s.git put --wait 100 - \
			>>receipts
		"$KISTORE" -C s.git get "n-$n" >/dev/null
		expect 0 "$KISTORE" -C s.git verify
	done
	touch stop
	wait
	[ ! -e failed ] || { cat failed house; false; }
	expect 0 "$KISTORE" -C s.git verify
	grep -q '^checked 13 objects' "$OUT"
	[ -z "$(leftovers s.git)" ]
	[ -z "$(git -C s.git fsck --strict 2>&1)" ]
}

@test "with many packs and few open files, reading and writing work" {
	for n in $(seq 40); do
		manifest "n-$n" >n.json
		"$KISTORE" -q -C s.git put n.json >>receipts
	done
	[ "$(find s.git -name '*.pack' | wc -l)" -ge 40 ]
	rm -f s.git/kistore-index*
	few() {
		(
			ulimit -n 24
			"$KISTORE" -C s.git "$@"
		)
	}
	expect 0 few verify
	expect 0 few get n-7
	expect 0 few put new.json
	expect 0 "$KISTORE" -q -C s.git gc
	[ "$(find s.git -name '*.pack' | wc -l)" -eq 1 ]
	expect 0 few verify
}
