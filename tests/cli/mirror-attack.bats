#!/usr/bin/env bats
# Mirrors whose upstream, surroundings or own files are not what they ought to
# be.

load ../lib/common
load ../lib/store
load ../lib/sign

prepare() {
	need_command git openssl ssh-keygen python3
	signed_store
}

# follow: a mirror of the store, in ./mirror, made once.
follow() {
	kistore -q mirror clone --key "$VKEY" "$KISTORE_DIR" mirror >/dev/null
}

# in_mirror COMMAND…
in_mirror() {
	kistore -C mirror "$@"
}

# empty_directory PATH: commit a directory without files, which git's index
# cannot have, but a tree can.
empty_directory() {
	local path=/$1 parent tree
	tree=$(git -C "$KISTORE_DIR" mktree </dev/null)
	while [ -n "$path" ]; do
		parent=${path%/*}
		tree=$({
			git -C "$KISTORE_DIR" ls-tree "HEAD:${parent#/}" \
				2>/dev/null | grep -v $'\t'"${path##*/}\$" || true
			printf '040000 tree %s\t%s\n' "$tree" "${path##*/}"
		} | git -C "$KISTORE_DIR" mktree)
		path=$parent
	done
	git -C "$KISTORE_DIR" update-ref HEAD "$(git -C "$KISTORE_DIR" \
		commit-tree -p HEAD -m empty "$tree")"
}

@test "a directory without files where none belongs is seen by an update, too" {
	local before path
	follow
	grow 1
	before=$(commit_id)
	for path in objects/zz objects/c/zz log/001/x log/x; do
		git -C "$KISTORE_DIR" update-ref HEAD "$before"
		empty_directory "$path"
		expect 1 in_mirror mirror update
		out_has "refused: damaged: "
	done
	# One that belongs there is no fault, and looked at whole.
	git -C "$KISTORE_DIR" update-ref HEAD "$before"
	empty_directory objects/e/ee
	expect 0 in_mirror mirror update
	expect 0 in_mirror verify --key "$VKEY"
}

# fake_git: a `git` in ./bin that says nothing for a minute, and neither does
# what it runs.
fake_git() {
	mkdir -p bin
	printf '#!/bin/sh\nsleep 61 &\necho $! >%q\nwait\n' \
		"$PWD/helper" >bin/git
	chmod +x bin/git
}

# ends_by SIGNAL COMMAND…: soon after it gets the signal, and with what it has
# started; there is no terminal.
ends_by() {
	local code=0 start
	rm -f helper
	PATH=$PWD/bin:$PATH setsid "${@:2}" >out 2>err 3>&- &
	while [ ! -s helper ]; do
		sleep 0.05
	done
	start=$SECONDS
	kill -s "$1" $!
	wait $! || code=$?
	[ "$code" -eq $((128 + $(kill -l "$1"))) ]
	[ $((SECONDS - start)) -lt 10 ]
	[ "$(<err)" = "kistore: interrupted" ]
	gone_soon "$(<helper)"
}

# gone_soon PID: within five seconds, or is a zombie that nobody asks for.
gone_soon() {
	local i state
	for ((i = 0; i < 100; i++)); do
		state=$(ps -o stat= -p "$1") || return 0
		[[ $state != Z* ]] || return 0
		sleep 0.05
	done
	return 1
}

@test "a server that says nothing does not keep an update that is to end" {
	need_command setsid ps
	follow
	fake_git
	ends_by TERM "$KISTORE" -C mirror mirror update
	# Nor a clone, of which nothing is left.
	ends_by TERM "$KISTORE" mirror clone --key "$VKEY" "$KISTORE_DIR" new
	[ ! -e new ]
	# One that does not listen is killed.
	printf '#!/bin/sh\ntrap "" TERM\necho $$ >%q\nsleep 5\nsleep 61\n' \
		"$PWD/helper" >bin/git
	ends_by TERM "$KISTORE" -C mirror mirror update
	expect 0 in_mirror mirror update
}

@test "an address with a password is refused, and not repeated" {
	local url
	for url in https://user:sekret@archive.example/x \
		"https://user:sekret@[::1]:8080/x" http://:sekret@h \
		https://user:se@kret@archive.example; do
		expect 2 kistore mirror clone --key "$VKEY" "$url" mirror
		err_has "credential helper"
		err_lacks sekret
		err_lacks kret
		[ ! -e mirror ]
	done
	# These have none.
	for url in http://127.0.0.1:1/a:b@c http://user@127.0.0.1:1/ \
		http://127.0.0.1:1/; do
		expect 5 kistore mirror clone --key "$VKEY" "$url" mirror
		out_has "unreachable"
	done
}

# junk NOTE COUNT: with so many lines more, of nobody.
junk() {
	local i
	cat "$1"
	for ((i = 0; i < $2; i++)); do
		printf '\xe2\x80\x94 w%s.example %s\n' "$i" \
			"$(head -c 76 /dev/zero | base64 -w0)"
	done
}

# shows LINE: the mirror's newest note has it, and the mirror is right.
shows() {
	git -C mirror show HEAD:checkpoint >shown
	grep -qxF -- "$1" shown
	kistore -q -C mirror verify --key "$VKEY" >/dev/null
}

@test "lines that the upstream adds do not drive out a cosignature" {
	local own
	follow
	make_key witness witness.example/w
	in_mirror -q mirror cosign --key witness.key >cosigned
	own=$(tail -n 1 cosigned)
	stored_note >note
	for count in 16 98; do
		junk note "$count" >fuller
		publish_note fuller
		expect 0 in_mirror mirror update
		shows "$own"
	done
	# Of our key, and false.
	{
		cat note
		text_of note | cosignature_line witness.key 7 |
			sed 's/.Q==$/AQ==/'
	} >fuller
	publish_note fuller
	expect 0 in_mirror mirror update
	shows "$own"
	# One is cosigned, too, that has many already.
	junk note 50 >fuller
	publish_note fuller
	make_key second second.example/w
	expect 0 in_mirror mirror update
	expect 0 in_mirror mirror cosign --key second.key
	shows "$(tail -n 1 "$OUT")"
	shows "$own"
	# A note that is full has no room: that is said.
	junk note 99 >fuller
	publish_note fuller
	expect 0 in_mirror mirror update
	err_has "own cosignatures of 9 entries are not kept"
}

@test "a verification beside updates finds no fault" {
	local round
	follow
	while [ ! -e stop ]; do
		kistore -C mirror verify --key "$VKEY" >seen 2>&1 || {
			cp seen failed
			break
		}
	done 3>&- &
	for ((round = 0; round < 12; round++)); do
		grow 1 2>/dev/null
		expect 0 in_mirror -q mirror update
	done
	touch stop
	wait
	[ ! -e failed ] || { cat failed; false; }
	# A tag too many is one still where nothing moved.
	git -C mirror update-ref refs/tags/snapshot/999 refs/tags/snapshot/9
	expect 1 in_mirror verify --key "$VKEY"
}

@test "a mirror that a group shares can be read by it after an update" {
	local mode
	follow
	git -C mirror config core.sharedRepository group
	grow 1
	(
		umask 077
		expect 0 in_mirror mirror update
	)
	for file in kistore-mirror refs/heads/main refs/tags/snapshot/10; do
		mode=$(stat -c %A "mirror/$file")
		[ "${mode:4:1}" = r ]
		[ "${mode:7:1}" = - ] || [ "$file" = refs/heads/main ]
	done
}
