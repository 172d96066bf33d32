# bats file_tags=faults
#
# One system call of the whole program made to fail, libgit2's and SQLite's
# included: first the first, then the second, until none is left. Afterwards,
# with nothing failing, the store is as before or as after, sound, and good for
# the next put.

load ../lib/common

prepare() {
	export SOURCE_DATE_EPOCH=1787000000
	PRELOAD=${BUILD:-$REPO/build}/faults/preload.so
	[ -e "$PRELOAD" ] || skip "no $PRELOAD"
	[ -z "${SANITIZE:-}" ] || skip "not under sanitizers"
	# fsync is free in memory.
	if [ -w /dev/shm ]; then
		PLACE=$(mktemp -d /dev/shm/kistore-faults-XXXXXX)
	else
		PLACE=$BATS_TEST_TMPDIR
	fi
	cd "$PLACE" || return
	SEED=$REPO/fixtures/seeds/closure/000
	kistore init -q empty.git
	cp -a empty.git full.git
	kistore -C full.git put -q "$SEED" >expected
	export XDG_STATE_HOME=$PLACE/state
	export KISTORE_FAULT_BELOW=$PLACE/work
	export KISTORE_FAULT_LOG=$PLACE/fired
}

teardown() {
	case ${PLACE-} in /dev/shm/*) rm -rf "$PLACE" ;; esac
}

root_of() {
	kistore -C "$1" log --root
}

complain() {
	echo "call $n ($(cat fired)), status $status: $1"
	cat err
	return 1
}

# Nothing in the git directory but what kistore makes to stay. What libgit2
# leaves at a failure is temporary and goes at the next put.
no_leftovers() {
	! (cd work.git && find . -type f) | sed 's,^\./,,' | grep -vxE \
'HEAD|config|description|hooks/README.sample|info/attributes|info/exclude|kistore.lock|kistore-index.sqlite(-wal|-shm)?|refs/heads/main|objects/pack/pack-[0-9a-f]{40}.(idx|pack)|objects/[0-9a-f]{2}/[0-9a-f]{38}'
}

# After a command that changes: exit 0 and the new state, or exit 5, one line,
# and either; then a put of something else works.
check_change() {
	local root
	if [ "$status" -ne 0 ]; then
		[ "$status" -eq 5 ] || complain "not 0 or 5" || return
		[ "$(wc -l <err)" -eq 1 ] || complain "not one line" || return
	fi
	root=$(root_of work.git) || complain "cannot be read" || return
	if [ "$root" != "$new" ]; then
		[ "$status" -ne 0 ] && [ "$root" = "$old" ] ||
			complain "neither old nor new" || return
	fi
	kistore -C work.git put -q "$REPO/fixtures/seeds/closure/003" \
		>/dev/null 2>err || complain "the next put fails" || return
	kistore -C work.git verify -q >out 2>err ||
		complain "not sound" || return
	no_leftovers || complain "left over" || return
}

# After a command that reads: the right answer, or exit 5 and one line.
check_answer() {
	if [ "$status" -eq 0 ]; then
		cmp -s out right || complain "another answer" || return
		return
	fi
	[ "$status" -eq 5 ] || complain "not 0 or 5" || return
	[ "$(wc -l <err)" -eq 1 ] || complain "not one line" || return
}

# After publishing: exit 0 or 5 with a line, what is served is whole, and the
# next run makes what one without failures makes.
check_served() {
	if [ "$status" -ne 0 ]; then
		[ "$status" -eq 5 ] || complain "not 0 or 5" || return
		[ "$(wc -l <err)" -eq 1 ] || complain "not one line" || return
	fi
	if [ -e work.www/checkpoint ]; then
		python3 "$REPO/tests/lib/tiles.py" work.www >out ||
			grep -qE '^(superfluous|beyond)' out ||
			complain "$(cat out)" || return
	fi
	kistore -C signed.git publish --cite c3252a98 work.www >out 2>err ||
		complain "the next run fails" || return
	diff -r -x pack -x packs whole work.www >err ||
		complain "another directory" || return
}

# The mirror's operator trusts, and remembers, apart from the archive.
as_mirror() {
	XDG_STATE_HOME=$PLACE/none kistore "$@"
}

# After an update: a verdict or a line; the mirror is the old one or the new
# one, and sound; and the next update brings it up, with nothing left behind.
check_mirror() {
	local size
	[ "$status" -eq 0 ] || [ "$status" -eq 5 ] ||
		complain "not 0 or 5" || return
	[ "$(grep -c ^kistore: err)" -le 2 ] || complain "lines" || return
	size=$(as_mirror -C work.git verify --json --key vkey 2>err |
		jq -r .log.size) || complain "not sound" || return
	[ "$size" = "$before" ] || [ "$size" = "$after" ] ||
		complain "$size entries" || return
	as_mirror -C work.git mirror update --key vkey >out 2>err ||
		complain "the next update fails" || return
	[ "$(git -C work.git rev-parse HEAD)" = "$(git -C new.git rev-parse HEAD)" ] ||
		complain "another commit" || return
	[ ! -e work.git/kistore-incoming ] || complain "left over" || return
	if git -C work.git cat-file -e "$gone" 2>err; then
		complain "what was taken down is there" || return
	fi
}

# fail_each CHECK STEP STORE COMMAND…: run it in a copy of STORE with every
# STEPth call failing.
fail_each() {
	local check=$1 step=$2 from=$3 n=1 failed=0
	shift 3
	rm -rf work.git
	cp -a "$from" work.git
	old=$(root_of work.git)
	kistore -C work.git "$@" >right
	new=$(root_of work.git)
	while :; do
		rm -rf work.git fired
		cp -a "$from" work.git
		status=0
		KISTORE_FAULT=$n LD_PRELOAD=$PRELOAD "$KISTORE" -C work.git \
			"$@" >out 2>err || status=$?
		[ -e fired ] || break
		[ "$status" -eq 0 ] || failed=$((failed + 1))
		"$check" || return
		n=$((n + step))
	done
	echo "# $*: $failed of $(((n - 1) / step)) calls failed it" >&3
	[ "$n" -gt 1 ] || { echo "no call was made to fail"; return 1; }
}

@test "init leaves nothing or a whole store" {
	n=1
	while :; do
		rm -rf work.git fired
		status=0
		KISTORE_FAULT=$n LD_PRELOAD=$PRELOAD "$KISTORE" init -q \
			work.git >out 2>err || status=$?
		[ -e fired ] || break
		if [ "$status" -ne 0 ]; then
			[ "$status" -eq 5 ] || complain "not 0 or 5"
			[ "$(wc -l <err)" -eq 1 ] || complain "not one line"
			if [ "$(cat fired)" = unlink ] ||
				[ "$(cat fired)" = rmdir ]; then
				rm -rf work.git
			fi
			[ ! -e work.git ] || complain "something is left"
			kistore init -q work.git
		fi
		[ "$(root_of work.git)" = "$(root_of empty.git)" ] ||
			complain "another root"
		kistore -C work.git verify -q >out 2>err || complain "not sound"
		n=$((n + 2))
	done
	[ "$n" -gt 20 ]
}

@test "put leaves old or new" {
	fail_each check_change 1 empty.git put -q "$SEED"
}

@test "put of many leaves old or new" {
	fail_each check_change 7 empty.git put -q \
		"$REPO/fixtures/liger-runs.jsonl"
}

@test "annotate leaves old or new" {
	echo '{"name":"new-name"}' >metadata
	fail_each check_change 3 full.git annotate -q --metadata metadata \
		c3252a98
}

@test "takedown of lines leaves old or new" {
	fail_each check_change 3 full.git takedown -q --lines --reason law \
		c3252a98
}

@test "verify is right or says that it could not" {
	fail_each check_answer 1 full.git verify
}

@test "get is right or says that it could not" {
	fail_each check_answer 2 full.git get --bundle c3252a98
}

@test "resolve is right or says that it could not" {
	fail_each check_answer 2 full.git resolve c3252a98
}

@test "building the index is right or says that it could not" {
	cp -a full.git bare.git
	rm bare.git/kistore-index.sqlite*
	fail_each check_answer 3 bare.git resolve c3252a98
}

@test "publish leaves what was served, or what is new" {
	local n=1 failed=0
	kistore init -q --origin archive.example/log signed.git
	kistore -C signed.git put -q "$SEED" >/dev/null
	kistore key generate --name archive.example/log -o key >/dev/null 2>&1
	kistore -C signed.git snapshot create -q --key key --first >/dev/null
	kistore -C signed.git publish begun >/dev/null
	kistore -C signed.git put -q "$REPO/fixtures/seeds/closure/003" \
		>/dev/null
	kistore -C signed.git snapshot create -q --key key >/dev/null
	cp -a begun whole
	kistore -C signed.git publish --cite c3252a98 whole >/dev/null
	while :; do
		rm -rf work.www fired
		cp -a begun work.www
		status=0
		KISTORE_FAULT=$n LD_PRELOAD=$PRELOAD "$KISTORE" -C signed.git \
			publish --cite c3252a98 work.www >out 2>err || status=$?
		[ -e fired ] || break
		[ "$status" -eq 0 ] || failed=$((failed + 1))
		check_served
		n=$((n + 1))
	done
	echo "# publish: $failed of $((n - 1)) calls failed it" >&3
	[ "$failed" -gt 20 ]
}

@test "mirror update leaves old or new" {
	local n=1 failed=0 digest
	command -v jq >/dev/null || skip "no jq"
	kistore init -q --origin archive.example/log up.git
	kistore -C up.git put -q "$SEED" >/dev/null
	kistore key generate --name archive.example/log -o key >vkey 2>/dev/null
	kistore -C up.git snapshot create -q --key key --first >/dev/null
	as_mirror mirror clone -q --key vkey up.git old.git >/dev/null
	before=$(kistore -C old.git log --root | cut -d' ' -f1)
	digest=$(sed -n 's/^sha256:\(c3252a98[0-9a-f]*\) .*/\1/p' expected)
	gone=$(git -C up.git rev-parse "HEAD:objects/c/32/${digest:3}.zst")
	kistore -C up.git put -q "$REPO/fixtures/seeds/closure/003" >/dev/null
	kistore -C up.git takedown -q --lines --reason test "$digest" >/dev/null
	kistore -C up.git snapshot create -q --key key >/dev/null
	kistore -C up.git gc -q --purge >/dev/null
	cp -a old.git new.git
	as_mirror -C new.git mirror update --key vkey >/dev/null 2>&1
	after=$(kistore -C new.git log --root | cut -d' ' -f1)
	while :; do
		rm -rf work.git fired none
		cp -a old.git work.git
		status=0
		XDG_STATE_HOME=$PLACE/none KISTORE_FAULT=$n \
			LD_PRELOAD=$PRELOAD "$KISTORE" -C work.git \
			mirror update --key vkey >out 2>err || status=$?
		[ -e fired ] || break
		[ "$status" -eq 0 ] || failed=$((failed + 1))
		rm -rf none
		check_mirror
		n=$((n + 1))
	done
	echo "# mirror update: $failed of $((n - 1)) calls failed it" >&3
	[ "$failed" -gt 20 ]
}
