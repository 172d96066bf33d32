# What every bats file loads first: load ../lib/common
#
# The environment is pinned, HOME is empty, and everything is written below
# $BATS_TEST_TMPDIR. KISTORE is the program (build/kistore by default),
# KISTORE_SHARED the folder with vectors and data (../shared by default).

REPO=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
KISTORE=${KISTORE:-$REPO/build/kistore}
SHARED=${KISTORE_SHARED:-$REPO/../shared}
export REPO KISTORE SHARED

setup() {
	export HOME=$BATS_TEST_TMPDIR/home
	export TZ=UTC LC_ALL=C.UTF-8 TERM=dumb
	export XDG_STATE_HOME=$HOME/state XDG_CONFIG_HOME=$HOME/config
	export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
	export GIT_CONFIG_NOSYSTEM=1 GIT_TERMINAL_PROMPT=0
	export GIT_AUTHOR_NAME=Tester GIT_AUTHOR_EMAIL=tester@example.org
	export GIT_COMMITTER_NAME=Tester
	export GIT_COMMITTER_EMAIL=tester@example.org
	unset KISTORE_DIR SOURCE_DATE_EPOCH GIT_DIR GIT_WORK_TREE
	mkdir -p "$HOME"
	cd "$BATS_TEST_TMPDIR" || return
	if [ "$(type -t prepare)" = function ]; then
		prepare
	fi
}

kistore() {
	"$KISTORE" "$@"
}

# Debian's, where it is: what stands before it in PATH may be a script that
# takes half a second to find an interpreter.
python3() {
	if [ -x /usr/bin/python3 ]; then
		/usr/bin/python3 -I "$@"
	else
		command python3 "$@"
	fi
}

# once NAME COMMAND…: what COMMAND makes in an empty folder. It is made once a
# file of tests, and copied.
once() {
	local made=$BATS_FILE_TMPDIR/$1
	if [ ! -d "$made" ]; then
		rm -rf "$made.part"
		mkdir "$made.part"
		(cd "$made.part" && "${@:2}") || return
		mv "$made.part" "$made"
	fi
	cp -R "$made/." .
}

# Skip unless the shared folder has PATH.
need_shared() {
	[ -e "$SHARED/$1" ] || skip "no $1 in the shared folder"
}

# Skip unless the commands are there.
need_command() {
	local command
	for command; do
		command -v "$command" >/dev/null || skip "no $command"
	done
}

# Skip where no pseudo-terminal can be had: in a root without /dev/pts, say.
need_terminal() {
	need_command python3
	python3 -c 'import os; os.close(os.openpty()[0])' 2>/dev/null ||
		skip "no pseudo-terminal"
}

# Skip where the sanitizers' address space makes a limit meaningless.
skip_under_sanitizer() {
	[ -z "${SANITIZE:-}" ] || skip "not under sanitizers: $1"
}

# try COMMAND…: run it, keeping $status, and $OUT and $ERR as files.
try() {
	OUT=$BATS_TEST_TMPDIR/out
	ERR=$BATS_TEST_TMPDIR/err
	status=0
	"$@" >"$OUT" 2>"$ERR" || status=$?
}

# expect STATUS COMMAND…: try, and require this status.
expect() {
	local want=$1
	shift
	try "$@"
	[ "$status" -eq "$want" ] && return
	echo "$*: status $status, not $want"
	echo "-- stdout"; head -c 2000 "$OUT"
	echo "-- stderr"; head -c 2000 "$ERR"
	return 1
}

# out_is TEXT, err_is TEXT: exactly these lines (one final newline).
out_is() {
	diff <(printf '%s\n' "$1") "$OUT"
}

err_is() {
	diff <(printf '%s\n' "$1") "$ERR"
}

# err_has TEXT: one line of the messages contains it.
err_has() {
	grep -qF -- "$1" "$ERR" && return
	echo "not said: $1"; cat "$ERR"
	return 1
}

silent_out() {
	[ ! -s "$OUT" ] && return
	echo "standard output is not empty:"; head -c 2000 "$OUT"
	return 1
}

silent_err() {
	[ ! -s "$ERR" ] && return
	echo "standard error is not empty:"; head -c 2000 "$ERR"
	return 1
}

# The first whole digest in the last output.
first_digest() {
	grep -oE 'sha256:[0-9a-f]{64}' "$OUT" | head -n 1
}
