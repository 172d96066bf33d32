# For tests of what must be refused or survived: load after common.

# manifest NAME: a small valid record, different for each name.
manifest() {
	printf '{"apiVersion":"kernelindex.dev/v1alpha1",'
	printf '"kind":"SoftwareProject","metadata":{"name":"%s"},' "$1"
	printf '"spec":{"name":"Project %s"}}' "$1"
}

# What a reader or writer could change in a repository, but for the index,
# which is derived, and the content of kistore.lock.
state_of() {
	git -C "$1" rev-parse HEAD
	find "$1" -name 'kistore-index.sqlite*' -o -name kistore.lock -o \
		-type f -printf '%P %s %T@\n' -o -printf '%P %y %l\n' |
		LC_ALL=C sort
}

# keep_state REPOSITORY now, unchanged REPOSITORY later.
keep_state() {
	state_of "$1" >"$BATS_TEST_TMPDIR/state.${1//\//_}"
}

unchanged() {
	diff "$BATS_TEST_TMPDIR/state.${1//\//_}" <(state_of "$1")
}

# leftovers DIRECTORY: files that only a dead writer leaves, and packs without
# an index.
leftovers() {
	find "$1" \( -name 'kistore-*' -o -name '.kistore-*' -o \
		-name 'pack_git2_*' -o -name '*.keep' -o -name '*.lock' -o \
		-name 'tmp_*' \) ! -name kistore.lock \
		! -name 'kistore-index.sqlite*'
	find "$1" -name '*.pack' | while read -r pack; do
		[ -e "${pack%.pack}.idx" ] || echo "$pack"
	done
}

# The last command said exactly one line.
one_line() {
	local lines
	mapfile lines <"$ERR"
	[[ ${#lines[@]} -eq 1 && ${lines[0]} == "kistore: "*$'\n' ]] && return
	echo "not one line:"; head -c 2000 "$ERR"
	return 1
}

# said TEXT: as err_has, without a process, for long loops.
said() {
	[[ $(<"$ERR") == *"$1"* ]] && return
	echo "not said: $1"; head -c 2000 "$ERR"
	return 1
}

# refused STATUS COMMAND…: this status, one line, no output.
refused() {
	expect "$@" && silent_out && one_line
}

# No control character but LF in what was said or printed.
no_escapes() {
	if LC_ALL=C grep -q $'[\001-\011\013-\037\177]' "$ERR" "$OUT" ||
		LC_ALL=C grep -q $'\302[\200-\237]' "$ERR" "$OUT"; then
		echo "control characters:"; cat -v "$ERR" "$OUT"
		return 1
	fi
}

# flip N: copy standard input, with all bits of byte N inverted.
flip() {
	python3 -c 'import sys
b = bytearray(sys.stdin.buffer.read())
b[int(sys.argv[1])] ^= 255
sys.stdout.buffer.write(b)' "$1"
}

# A zstd frame of 131 kB that holds one JSON string of 4 GiB.
bomb() {
	python3 -c 'import sys
block = lambda kind, size, last: (size << 3 | kind << 1 | last).to_bytes(
    3, "little")
sys.stdout.buffer.write(b"\x28\xb5\x2f\xfd\x00\x58" + block(0, 6, 0) +
    b"{\"a\":\"" + (block(1, 131072, 0) + b"a") * 32768 + block(0, 2, 1) +
    b"\"}")'
}

# bounded COMMAND…: within 20 seconds and 1 GB of address space, but under
# sanitizers, which take more for themselves.
bounded() {
	(
		[ -n "${SANITIZE:-}${VALGRIND:-}" ] || ulimit -v 1000000
		exec timeout 20 "$@"
	)
}

small_stack() {
	(
		ulimit -s 256
		"$@"
	)
}

from_file() {
	"${@:2}" <"$1"
}

blanks_for_ever() {
	"$@" < <(tr '\0' ' ' </dev/zero)
}

# Root reads and writes everything unless it gives up the right to.
with_plain_rights() {
	if [ "$(id -u)" != 0 ]; then
		"$@"
		return
	fi
	setpriv --bounding-set=-dac_override,-dac_read_search \
		--inh-caps=-dac_override,-dac_read_search "$@"
}

need_plain_rights() {
	need_command setpriv
	touch "$BATS_TEST_TMPDIR/closed"
	chmod 000 "$BATS_TEST_TMPDIR/closed"
	! with_plain_rights cat "$BATS_TEST_TMPDIR/closed" >/dev/null 2>&1 ||
		skip "the rights of root cannot be given up"
}

# A mount namespace of our own.
need_mounts() {
	need_command unshare
	mkdir -p "$BATS_TEST_TMPDIR/mount"
	unshare -Urm mount -t tmpfs t "$BATS_TEST_TMPDIR/mount" 2>/dev/null ||
		skip "no mount namespaces here"
}

# dies_at CALL N COMMAND…: killed before its Nth such system call, and not that of
# a process that it started.
dies_at() {
	local call=$1 n=$2 code=0
	shift 2
	(
		strace -qq -o /dev/null -e "trace=$call" \
			-e "inject=$call:signal=KILL:when=$n" "$@" \
			>out 2>err &
		wait $!
	) 2>/dev/null || code=$?
	[ "$code" -eq 137 ]
}

need_strace() {
	need_command strace
	skip_under_sanitizer "strace and leak detection"
	strace -qq -o /dev/null -e trace=none true ||
		skip "strace may not trace here"
}
