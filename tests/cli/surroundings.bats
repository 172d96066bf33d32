#!/usr/bin/env bats
# What a store stands in: other repositories and clones, rights, disks, locks,
# owners, locales, outputs that fail. Where kistore cannot do a thing it says
# so in one line with the documented exit code, and changes nothing.

load ../lib/common
load ../lib/hostile

# Three records in three commits; $digest is the last one's.
prepare() {
	once three make_store
	digest=$(grep -oE 'sha256:[0-9a-f]{64}' receipt)
	keep_state s.git
}

make_store() {
	"$KISTORE" -q init s.git
	for name in one two three; do
		manifest "$name" >"$name.json"
		"$KISTORE" -q -C s.git put "$name.json" >receipt
	done
	manifest new >new.json
}

body_of() {
	printf '%s%s' '{"apiVersion":"kernelindex.dev/v1alpha1",' \
		'"kind":"SoftwareProject","spec":{"name":"Project '"$1"'"}}'
}

# reads_well STORE: everything that reads gives what it gives elsewhere.
reads_well() {
	expect 0 "$KISTORE" -C "$1" verify
	expect 0 "$KISTORE" -C "$1" get "$digest"
	diff <(body_of three) "$OUT"
	expect 0 "$KISTORE" -C "$1" resolve three
	out_is "$digest"
	expect 0 "$KISTORE" -C "$1" log --root
	diff <("$KISTORE" -C s.git log --root) "$OUT"
	expect 0 "$KISTORE" -C "$1" status
}

writes_well() {
	expect 0 "$KISTORE" -C "$1" put new.json
	expect 0 "$KISTORE" -C "$1" verify
	expect 0 "$KISTORE" -C "$1" resolve new
}

# libgit2 1.5 loses memory for each name in the configuration of a repository
# that has extensions.
libgit2_leaks() {
	export ASAN_OPTIONS=${ASAN_OPTIONS-}:detect_leaks=0
}

# ---- what is no store ------------------------------------------------------

@test "a place without a store is told of with status 3" {
	mkdir plain
	git init -q unborn
	git init -q other
	git -C other commit -q --allow-empty -m nothing
	for place in gone plain unborn other new.json; do
		for command in verify status 'resolve x' "get $digest" \
			'put new.json' 'log' gc "retract $digest --reason x"; do
			# shellcheck disable=SC2086 # words
			refused 3 "$KISTORE" -C "$place" $command
		done
	done
	[ -z "$(find plain unborn other -name 'kistore*')" ]
}

@test "a branch that is gone makes a store none, and nothing is written" {
	git -C s.git symbolic-ref HEAD refs/heads/gone
	keep_state s.git
	refused 3 "$KISTORE" -C s.git verify
	err_has refs/heads/gone
	refused 3 "$KISTORE" -C s.git put new.json
	unchanged s.git
}

@test "a reference that is empty is named, and is no store's state" {
	cp s.git/refs/heads/main good
	: >s.git/refs/heads/main
	refused 1 "$KISTORE" -C s.git verify
	err_has refs/heads/main
	refused 1 "$KISTORE" -C s.git put new.json
	cp -p good s.git/refs/heads/main
	reads_well s.git
}

@test "a detached HEAD is read, and refuses writers with status 5" {
	git -C s.git update-ref --no-deref HEAD HEAD
	echo '{"name":"x"}' >metadata.json
	keep_state s.git
	reads_well s.git
	for command in 'put new.json' "retract $digest --reason x" \
		"annotate $digest --metadata metadata.json" \
		"takedown $digest --reason x" 'dictionary train'; do
		# shellcheck disable=SC2086 # words
		refused 5 "$KISTORE" -C s.git $command
		err_has detached
	done
	unchanged s.git
}

@test "git's SHA-256 format and unknown extensions are status 8" {
	libgit2_leaks
	git init -q --object-format=sha256 --bare long.git
	git clone -q --bare s.git ext.git
	git -C ext.git config core.repositoryformatversion 1
	git -C ext.git config extensions.frobnicate true
	for store in long.git ext.git; do
		for command in verify "get $digest" 'put new.json'; do
			# shellcheck disable=SC2086 # words
			refused 8 "$KISTORE" -C "$store" $command
		done
	done
	err_has frobnicate
	sed -i 's/frobnicate/preciousObjects/' ext.git/config
	reads_well ext.git
}

@test "a store of a newer format is status 8 and is not extended" {
	git clone -q s.git newer 2>/dev/null
	printf '{"format":"kistore/9"}' >newer/store.json
	git -C newer commit -qam newer
	keep_state newer
	refused 8 "$KISTORE" -C newer status
	err_has kistore/9
	refused 8 "$KISTORE" -C newer put new.json
	unchanged newer
}

# ---- clones of every sort --------------------------------------------------

@test "O07: a partial clone lacks what git promised: status 3, not damage" {
	libgit2_leaks
	git -C s.git config uploadpack.allowFilter true
	git -C s.git config uploadpack.allowAnySHA1InWant true
	git clone -q --filter=blob:none --no-checkout \
		"file://$PWD/s.git" part
	for command in verify "get $digest" 'put new.json'; do
		# shellcheck disable=SC2086 # words
		refused 3 "$KISTORE" -C part $command
		err_has 'not fetched (partial clone of origin)'
	done
	# With the log there, but no object.
	git -C part checkout -q HEAD -- store.json .gitattributes log
	expect 3 "$KISTORE" -C part verify
	[ "$(grep -c '^unfetched objects/' "$OUT")" -eq 3 ]
	grep -q '^found 0 damaged, 0 absent, 3 unfetched' "$OUT"
	refused 3 "$KISTORE" -C part get "$digest"
	err_has 'not fetched'
	expect 0 "$KISTORE" -C part resolve three
	out_is "$digest"
	# As verify advises.
	git -C part fetch -q --refetch --no-filter
	reads_well part
}

@test "O08: a shallow clone is checked in full, and says what it lacks" {
	git clone -q --depth 1 "file://$PWD/s.git" shallow
	reads_well shallow
	expect 0 "$KISTORE" -C shallow verify
	cat "$OUT" "$ERR" | grep -qi shallow
	writes_well shallow
}

@test "O09: bare, linked, by .git file, from below: all read and write" {
	git clone -q --bare s.git bare.git
	git -C bare.git worktree add -q ../linked
	mkdir by-file
	git clone -q --bare s.git by-file/.bare
	echo 'gitdir: ./.bare' >by-file/.git
	git clone -q s.git tree 2>/dev/null
	for store in bare.git linked by-file tree; do
		reads_well "$store"
	done
	for store in bare.git by-file; do
		writes_well "$store"
	done
	manifest again >again.json
	for store in linked tree; do
		writes_well "$store"
		[ -z "$(git -C "$store" status --porcelain)" ]
	done
	cd tree/objects
	expect 0 "$KISTORE" put ../../again.json
	expect 0 "$KISTORE" resolve again
	expect 0 "$KISTORE" verify
	[ -z "$(git status --porcelain)" ]
	cd ../..
	expect 0 env KISTORE_DIR=tree "$KISTORE" resolve again
	git -C tree fsck --strict
}

@test "a work tree with changes of somebody else refuses writers" {
	git clone -q s.git tree 2>/dev/null
	echo '{}' >>tree/log/000/000.jsonl
	keep_state tree
	refused 5 "$KISTORE" -C tree put new.json
	err_has log/000/000.jsonl
	unchanged tree
	reads_well tree
	git -C tree add log
	keep_state tree
	refused 5 "$KISTORE" -C tree put new.json
	err_has log/000/000.jsonl
	unchanged tree
	git -C tree reset -q --hard
	# A file where a new object is to be.
	object=$("$KISTORE" digest new.json | cut -c8-71)
	place=tree/objects/${object:0:1}/${object:1:2}
	mkdir -p "$place"
	echo mine >"$place/${object:3}.zst"
	keep_state tree
	refused 5 "$KISTORE" -C tree put new.json
	unchanged tree
	rm "$place/${object:3}.zst"
	# What kistore does not write may differ.
	echo notes >tree/notes
	writes_well tree
}

@test "O12: line ends that a checkout changed are of no account" {
	git -c core.autocrlf=true clone -q s.git auto 2>/dev/null
	[ -z "$(git -C auto status --porcelain)" ]
	reads_well auto
	writes_well auto
	git clone -q -n s.git forced 2>/dev/null
	echo '* text eol=crlf' >forced/.git/info/attributes
	git -C forced checkout -q HEAD -- .
	reads_well forced
}

# ---- locks -----------------------------------------------------------------

@test "O04: a foreign lock of the branch is named with its age and is kept" {
	touch -d '3 hours ago' s.git/refs/heads/main.lock
	keep_state s.git
	reads_well s.git
	refused 5 "$KISTORE" -C s.git put new.json
	err_has refs/heads/main.lock
	grep -qE '10[78][0-9]{2} s old' "$ERR"
	unchanged s.git
	rm s.git/refs/heads/main.lock
	writes_well s.git
}

@test "O04: a foreign lock of git's index is named with its age and is kept" {
	git clone -q s.git tree 2>/dev/null
	touch -d '3 hours ago' tree/.git/index.lock
	keep_state tree
	reads_well tree
	refused 5 "$KISTORE" -C tree put new.json
	err_has index.lock
	grep -qE '10[78][0-9]{2} s old' "$ERR"
	unchanged tree
	rm tree/.git/index.lock
	writes_well tree
	[ -z "$(git -C tree status --porcelain)" ]
}

@test "a lock of another kistore is waited for, and told of with status 5" {
	need_command flock
	flock s.git/kistore.lock sleep 30 3>&- &
	holder=$!
	until ! flock -n s.git/kistore.lock true; do sleep 0.05; done
	for wait in 0 1; do
		refused 5 timeout 20 "$KISTORE" -C s.git put --wait "$wait" \
			new.json
		err_has kistore.lock
	done
	reads_well s.git
	"$KISTORE" -C s.git put --wait 30 new.json >waited 3>&- &
	writer=$!
	sleep 0.3
	[ ! -s waited ]
	pkill -P "$holder" || true
	kill "$holder" 2>/dev/null || true
	wait "$writer"
	grep -q ' new$' waited
}

@test "kistore.lock as a symbolic link or a FIFO is refused" {
	rm s.git/kistore.lock
	: >victim
	ln -s ../victim s.git/kistore.lock
	refused 5 timeout 10 "$KISTORE" -C s.git put new.json
	rm s.git/kistore.lock
	[ ! -s victim ]
	mkfifo s.git/kistore.lock
	refused 5 timeout 10 "$KISTORE" -C s.git put new.json
	rm s.git/kistore.lock
	unchanged s.git
	writes_well s.git
}

# ---- rights, disks, owners -------------------------------------------------

@test "a store that may not be written is read, and refuses writers" {
	need_plain_rights
	chmod -R a-w s.git
	for command in 'put new.json' "retract $digest --reason x" \
		'dictionary train'; do
		# shellcheck disable=SC2086 # words
		refused 5 with_plain_rights "$KISTORE" -C s.git $command
		err_has 'ermission denied'
	done
	KISTORE_PLAIN=$KISTORE
	plain() { with_plain_rights "$KISTORE_PLAIN" "$@"; }
	KISTORE=plain reads_well s.git
	chmod -R u+w s.git
	unchanged s.git
}

# quiet_reading: the reading commands, in the current environment.
quiet_reading() {
	for words in verify "get $digest" 'resolve three' 'log --root' log \
		'resolve --json --tree three' status; do
		# shellcheck disable=SC2086 # words
		"$KISTORE" -C s.git $words || return
	done
}

@test "O25: on read-only media all reading is as ever, and nothing is touched" {
	need_mounts
	quiet_reading >want
	cat >script <<-'END'
	mount --bind s.git s.git && mount -o remount,ro,bind s.git || exit 99
	for words in verify "get $1" 'resolve three' 'log --root' log \
		'resolve --json --tree three' status; do
		"$KISTORE" -C s.git $words || exit 98
	done >read
	"$KISTORE" -C s.git put new.json
	END
	for index in kept none; do
		[ "$index" = kept ] || rm -f s.git/kistore-index.sqlite*
		find s.git -printf '%P %T@ %C@\n' | sort >stamps
		expect 5 env -u HOME -u XDG_STATE_HOME -u XDG_CONFIG_HOME \
			unshare -Urm sh script "$digest"
		silent_out
		one_line
		err_has 'Read-only file system'
		find s.git -printf '%P %T@ %C@\n' | sort | diff stamps -
		diff want read
	done
	writes_well s.git
}

@test "O03: on a full disk put, init and retract fail with status 5 and undo" {
	need_mounts
	for n in $(seq 40); do manifest "many-$n"; echo; done >many.jsonl
	cat >script <<-'END'
	mount -t tmpfs -o size=700k t mount && cp -r s.git mount/s.git ||
		exit 99
	cd mount
	head -c 700k /dev/zero >fill 2>/dev/null
	find . -printf '%P %s\n' | grep -v kistore-index | sort >/dev/shm/$$
	fail() {
		"$@" >out 2>../err.$n
		status=$?
		rm -f out
		[ "$status" = 5 ] || echo "$*: $status"
		[ "$(wc -l <../err.$n)" = 1 ] || cat ../err.$n
		grep -q 'No space left on device' ../err.$n || cat ../err.$n
		n=$((n + 1))
	}
	n=1
	fail "$KISTORE" -C s.git put ../many.jsonl
	fail "$KISTORE" -C s.git put ../new.json
	fail "$KISTORE" -C s.git retract "$1" --reason x
	fail "$KISTORE" init other.git
	[ ! -e other.git ] || echo "init left something"
	"$KISTORE" -C s.git verify >../verify.out || echo "verify failed"
	"$KISTORE" -C s.git get "$1" >../got || echo "get failed"
	find . -printf '%P %s\n' | grep -v kistore-index | sort |
		diff /dev/shm/$$ -
	rm /dev/shm/$$ fill
	"$KISTORE" -C s.git put ../new.json >/dev/null || echo "put failed"
	"$KISTORE" -C s.git verify >/dev/null || echo "verify failed"
	END
	unshare -Urm sh script "$digest" >said 2>&1
	cat said
	! grep -qv '^kistore: added ' said || return 1
	diff <(body_of three) got
}

@test "O06: a store of another owner is judged as git judges it" {
	[ "$(id -u)" = 0 ] || skip "only root can give files away"
	git clone -q s.git tree 2>/dev/null
	unset GIT_CONFIG_GLOBAL
	chown -R 12345:12345 s.git tree
	files() {
		find s.git tree -type f ! -name 'kistore-index*' \
			-printf '%P %s %T@ %U\n' | sort
	}
	files >before
	for store in s.git tree; do
		! git -C "$store" log -1 2>/dev/null || return 1
		for command in verify "get $digest" 'put new.json'; do
			# shellcheck disable=SC2086 # words
			refused 5 "$KISTORE" -C "$store" $command
			err_has 12345
			err_has "$PWD/$store"
			err_has safe.directory
		done
		# The remedy that it names is the one that git takes.
		remedy=$(sed -n 's/.*: git config/git config/p' "$ERR")
		eval "$remedy"
		git -C "$store" log -1 >/dev/null
		expect 0 "$KISTORE" -C "$store" verify
		expect 0 "$KISTORE" -C "$store" get "$digest"
	done
	git config --global --unset-all safe.directory
	git config --global --add safe.directory '*'
	expect 0 "$KISTORE" -C s.git verify
	git config --global --add safe.directory ''
	refused 5 "$KISTORE" -C s.git verify
	files | diff before -
}

# ---- locales and outputs ---------------------------------------------------

@test "O15: digests, bytes and answers are the same in every locale" {
	need_command localedef
	for locale in de_DE tr_TR; do
		localedef -i "$locale" -f UTF-8 "./$locale.UTF-8" \
			2>/dev/null || true
	done
	[ -d de_DE.UTF-8 ] || skip "no locale sources"
	export LOCPATH=$PWD SOURCE_DATE_EPOCH=1787000000
	printf '{"apiVersion":"example.org/v1","kind":"Odd","metadata":' >num.json
	printf '{"name":"i"},"spec":{"s":"Z\303\274rich","x":0.5}}' >>num.json
	for locale in C POSIX C.UTF-8 de_DE.UTF-8 tr_TR.UTF-8 \
		no_SUCH; do
		"$KISTORE" -q init "l-$locale.git"
		LC_ALL=$locale "$KISTORE" -C "l-$locale.git" put --allow-unknown-kind num.json \
			>put.out 2>put.err
		one=$(cut -d' ' -f1 put.out)
		{
			cat put.out put.err
			LC_ALL=$locale "$KISTORE" -C "l-$locale.git" get "$one"
			LC_ALL=$locale "$KISTORE" -C "l-$locale.git" \
				resolve --tree I i 2>&1 || true
			LC_ALL=$locale "$KISTORE" -C "l-$locale.git" \
				put $'\303\274\377.json' 2>&1 || true
		} >"said-$locale"
		cmp said-C "said-$locale"
	done
	grep -q $'"s":"Z\303\274rich","x":0.5' said-C
}

@test "O24: output that cannot be written is status 5, and harms no store" {
	[ -c /dev/full ] || skip "no /dev/full"
	for command in "get $digest" verify 'verify --json' 'resolve three' \
		'log' 'log --root' status 'status --json'; do
		for how in full closed; do
			status=0
			# shellcheck disable=SC2086 # words
			if [ "$how" = full ]; then
				"$KISTORE" -C s.git $command >/dev/full 2>err
			else
				"$KISTORE" -C s.git $command >&- 2>err
			fi || status=$?
			echo "$command $how $status"
			[ "$status" -eq 5 ]
			grep -q '^kistore: cannot write standard output: ' err
			[ "$(wc -l <err)" -eq 1 ]
		done
	done
	unchanged s.git
}

@test "O24: a put whose receipt is lost has been done, and says so" {
	[ -c /dev/full ] || skip "no /dev/full"
	status=0
	"$KISTORE" -C s.git put new.json >/dev/full 2>err || status=$?
	[ "$status" -eq 5 ]
	grep -q 'cannot write standard output' err
	expect 0 "$KISTORE" -C s.git resolve new
	expect 0 "$KISTORE" -C s.git verify
	expect 0 "$KISTORE" -C s.git put new.json
	grep -q ' known$' "$OUT"
}

# shellcheck disable=SC2030
@test "O24: a reader that goes away ends a command quietly" {
	for command in log verify "get $digest"; do
		set +o pipefail
		# shellcheck disable=SC2086 # words
		"$KISTORE" -C s.git $command 2>err | true
		code=${PIPESTATUS[0]}
		set -o pipefail
		[ "$code" -eq 141 ] || [ "$code" -eq 0 ]
		[ ! -s err ]
	done
}

# shellcheck disable=SC2031 # $status is what try has just set
# pure COMMAND…: every line of its output is a JSON object with a schema, with
# neither HOME nor standard input, and whether or not it fails.
pure() {
	try env -u HOME -u XDG_STATE_HOME -u XDG_CONFIG_HOME "$@" </dev/null
	[ -s "$OUT" ] || { echo "$*: no output"; return 1; }
	jq -es 'all(.[]; type == "object" and (.schema |
		test("^kistore-[a-z-]+/1$")))' "$OUT" >/dev/null ||
		{ echo "$*:"; cat "$OUT"; return 1; }
	[ "$(wc -l <"$OUT")" -eq "$(jq -s length "$OUT")" ]
	[ "$status" -eq 0 ] || jq -es --argjson status "$status" \
		'.[-1] | .schema == "kistore-verify/1" or .result != null or
		(.error.exit == $status and (.error.code | test("^[a-z-]+$")))' \
		"$OUT" >/dev/null || { echo "$*:"; cat "$OUT"; return 1; }
}

@test "O23: with --json standard output is JSON only, also in failure" {
	echo '{"name":"other"}' >metadata.json
	pure "$KISTORE" init --json other.git
	pure "$KISTORE" init --json other.git
	[ "$status" -ne 0 ]
	pure "$KISTORE" digest --json new.json
	pure "$KISTORE" digest --json gone.json
	for command in 'put --json new.json' 'put --json --dry-run new.json' \
		'put --json gone.json' "put --json $REPO/fixtures/invalid" \
		'resolve --json three' 'resolve --json --tree three' \
		'resolve --json nothing' 'verify --json' \
		"verify --json $digest" 'verify --json nothing' 'log --json' \
		'log --json --root' 'status --json' \
		'status --json --at 2' 'status --json --at nothing' \
		"annotate --json $digest --metadata metadata.json" \
		"retract --json $digest --reason because" \
		"restore --json $digest --reason because" \
		"supersede --json $digest --by $digest" \
		"takedown --json $digest --reason because"; do
		# shellcheck disable=SC2086 # words
		pure "$KISTORE" -C s.git $command
	done
	git init -q plain
	for command in 'put --json new.json' 'verify --json' 'log --json' \
		'status --json' 'resolve --json x'; do
		# shellcheck disable=SC2086 # words
		pure "$KISTORE" -C plain $command
		[ "$status" -eq 3 ]
	done
}

@test "O23: a terminal and a pipe get the same JSON" {
	need_terminal
	need_command script
	"$KISTORE" -C s.git verify --json >pipe
	script -qec "'$KISTORE' -C s.git verify --json 2>/dev/null" /dev/null |
		tr -d '\r' >terminal
	diff pipe terminal
}

# ---- what is stored and hostile --------------------------------------------

@test "O20: depth in stored files is a fault, whatever the stack" {
	git clone -q s.git tree 2>/dev/null
	deep=$(python3 -c 'print("[" * 100000 + "]" * 100000, end="")')
	printf '{"format":"kistore/1","x":%s}' "$deep" >tree/store.json
	git -C tree commit -qam deep
	refused 1 small_stack "$KISTORE" -C tree verify
	git -C tree reset -q --hard HEAD~
	printf '{"at":"2099-01-01T00:00:00Z","op":"x-deep","x":%s}\n' \
		"${deep:0:30000}${deep: -30000}" >>tree/log/000/000.jsonl
	git -C tree commit -qam deep
	expect 1 small_stack "$KISTORE" -C tree verify
	grep -q 'log/000/000.jsonl:5' "$OUT"
	expect 0 small_stack "$KISTORE" -C tree get "$digest"
	try small_stack "$KISTORE" -C tree put new.json
	[ "$status" -eq 1 ]
	git -C tree reset -q --hard HEAD~
	# A deep text under the name of a record's kind.
	printf '{"apiVersion":"x","kind":"Odd","spec":{"v":%s}}' "$deep" >body
	hex=$(sha256sum <body | cut -c1-64)
	mkdir -p "tree/objects/${hex:0:1}/${hex:1:2}"
	zstd -q -o "tree/objects/${hex:0:1}/${hex:1:2}/${hex:3}.zst" body
	printf '{"at":"2099-01-01T00:00:00Z","digest":"sha256:%s",%s}\n' \
		"$hex" '"kind":"x/Odd","op":"publish"' >>tree/log/000/000.jsonl
	git -C tree add .
	git -C tree commit -qm deep
	expect 1 small_stack "$KISTORE" -C tree verify
	grep -q "$hex" "$OUT"
	for command in get resolve 'resolve --tree' 'get --manifest' \
		'get --bundle'; do
		# shellcheck disable=SC2086 # words
		try small_stack "$KISTORE" -C tree $command "sha256:$hex"
		[ "$status" -lt 9 ]
	done
}

@test "O21: a stored bomb is found in little memory, and the rest is checked" {
	skip_under_sanitizer "address space"
	git clone -q s.git tree 2>/dev/null
	hex=${digest#sha256:}
	place=tree/objects/${hex:0:1}/${hex:1:2}/${hex:3}.zst
	bomb >bomb.zst
	printf '\x28\xb5\x2f\xfd\xe0\0\0\0\0\0\1\0\0\3\0\0\0' >huge.zst
	for file in bomb.zst huge.zst; do
		cp "$file" "$place"
		git -C tree commit -qam "$file"
		expect 1 bounded "$KISTORE" -C tree verify
		grep -q "$hex" "$OUT"
		grep -q '^checked 3 objects' "$OUT"
		grep -q '^found 1 damaged, 0 absent' "$OUT"
		refused 1 bounded "$KISTORE" -C tree get "$digest"
	done
}
