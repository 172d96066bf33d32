#!/usr/bin/env bats
# What who runs a mirror is told, and what the README tells them to type.

load ../lib/common
load ../lib/store
load ../lib/sign

prepare() {
	signed_store
	witness
}

# follow STATUS WORDS [OPTION…]: m.git is updated, and says so.
follow() {
	expect "$1" kistore -C m.git mirror update "${@:3}"
	out_has "$2"
}

@test "a quorum that is missing is told of, also after a takedown" {
	policy_file 'quorum W' >policy
	cosign
	kistore mirror clone --policy policy demo.git m.git >/dev/null
	# The object and a line go with the snapshot that the witness has not
	# seen yet: both are missed until then.
	kistore -q takedown "$WORKLOAD" --reason law --lines >/dev/null
	snapshot log.key
	follow 6 'refused: untrusted key: the witness W has not cosigned'
	cosign 1787000002
	follow 0 'updated: '
}

@test "nor is a wrong key told of as damage" {
	kistore -q takedown "$WORKLOAD" --reason law --lines >/dev/null
	snapshot log.key
	expect 6 kistore mirror clone --key "$THIEF" demo.git m.git
	out_has 'refused: untrusted key: '
	expect 1 kistore verify --key "$THIEF"
	finding absent "$(object_path "$WORKLOAD")" \
		'nobody who is trusted has signed the entry that takes it down (N8)'
	# Damage is.
	head -c 9 /dev/zero >zeros
	replace "$(object_path "$RUN")" zeros
	expect 1 kistore mirror clone --key "$THIEF" demo.git m.git
	out_has 'refused: damaged: '
}

@test "status says since when it goes wrong, and that a fork was seen" {
	kistore mirror clone --key "$VKEY" demo.git m.git >/dev/null
	expect 0 kistore -C m.git mirror status
	out_lacks 'last good at'
	mv demo.git away.git
	SOURCE_DATE_EPOCH=1787003600 follow 5 'refused: unreachable: '
	expect 5 kistore -C m.git mirror status
	grep -qx 'last asked at 2026-08-17T21:53:20Z' "$OUT"
	grep -qx 'last good at 2026-08-17T20:53:20Z' "$OUT"
	expect 5 kistore -C m.git mirror status --json
	jq -e '.checked == "2026-08-17T21:53:20Z" and .fork == null and
		.good == "2026-08-17T20:53:20Z"' "$OUT"
	cp -R away.git demo.git
	fork_log log.key
	follow 1 'refused: fork: '
	evidence=$(sed -n 's/^evidence: //p' "$OUT")
	[ -s "$evidence" ]
	# That it was is told until the evidence is taken away.
	rm -rf demo.git
	mv away.git demo.git
	follow 0 'current: '
	expect 0 kistore -C m.git mirror status
	out_has "a fork was seen, and the evidence is to be published: $evidence"
	expect 0 kistore -C m.git mirror status --json
	jq -e --arg at "$evidence" '.fork == $at' "$OUT"
	mv "$evidence" published
	expect 0 kistore -C m.git mirror status
	out_lacks 'a fork was seen'
}

@test "who has no pin is told of which log, and whose pins count" {
	expect 6 kistore mirror clone demo.git m.git
	out_has "refused: not trusted: no key is trusted for its origin, \"$ORIGIN\": name one that you have from elsewhere (--key or --policy)"
	kistore mirror clone --key "$VKEY" demo.git m.git >/dev/null
	XDG_STATE_HOME=$PWD/another follow 6 \
		'(--key or --policy), or be the user who pinned one'
}

@test "status of a clone that has not come to an end" {
	git init -q --bare m.git
	printf 'kistore-mirror/1\nurl %s/demo.git\n' "$PWD" >m.git/kistore-mirror
	expect 0 kistore -C m.git mirror status
	out_has 'never: nothing was accepted yet (kistore mirror update goes on)'
	expect 0 kistore -C m.git mirror status --json
	jq -e '.verdict == "never" and .checked == null and .good == null' "$OUT"
	follow 6 'refused: not trusted: '
	follow 0 'updated: ' --key "$VKEY"
}

@test "what the README tells to type works, for two mirrors and a policy" {
	need_command jq
	mkdir srv srv/www bin etc
	ln -s "$(realpath "$KISTORE")" bin/kistore
	PATH=$PWD/bin:$PATH
	unset SOURCE_DATE_EPOCH
	sed -n '/^## For the mirror operator/,/^## Map/p' "$REPO/README.md" |
		sed "s|/srv/|$PWD/srv/|g; s|/etc/kistore/|$PWD/etc/|g
		s|https://[^ ]*|$PWD/demo.git|; s|KEY $PWD|\"\$(cat log.vkey)\" $PWD|" |
		awk '/^```/ { on = !on; n += on; next } on { print > ("block" n) }'
	cp block2 bin/follow
	chmod +x bin/follow
	expect 0 bash -euo pipefail block1
	# shellcheck disable=SC2016 # for the shell that runs it
	sed -i 's/^\(kistore key show\) \(.*\) | head .*/\1 \2 >shown/' block5
	expect 0 bash -euo pipefail block5
	expect 0 bin/follow
	silent_out
	cmp cosigned.note srv/cosigned.note
	[ -s srv/www/records/checkpoint ]
	expect 0 sh block4
	# The other mirror, and the archive.
	kistore mirror clone --key "$VKEY" demo.git south.git >/dev/null
	kistore -C south.git mirror cosign --key witness.key >south.note 2>err
	sed "s|^log .*|log $VKEY|
		s|^\(witness north\).*|\1 $(head -n 1 shown)|
		s|^\(witness south\).*|\1 $(vkey_of witness.key 04)|" block6 >policy
	expect 6 kistore -C srv/mirror.git verify --policy policy
	verdict 'untrusted key: 1 of the 2 members of mirrors have cosigned'
	for note in cosigned.note south.note; do
		kistore snapshot add-cosignature --policy policy "$note" >/dev/null
	done
	expect 0 kistore mirror clone --policy policy demo.git follower.git
	out_has 'cosigned by 2, '
	expect 0 bin/follow
	expect 0 kistore -C srv/mirror.git verify --policy policy
	# What goes wrong is printed, and so mailed.
	mv demo.git away.git
	expect 5 bin/follow
	out_has 'refused: unreachable: '
	expect 0 sh block4
	sed -i "s/^good .*/good 1787000000/" srv/mirror.git/kistore-mirror
	expect 1 sh block4
}

@test "a clone that is interrupted leaves nothing, and nothing runs on" {
	printf '#!/bin/sh\necho $$ >%s/asked\nexec sleep 60\n' "$PWD" >ssh
	chmod +x ssh
	GIT_SSH=$PWD/ssh "$KISTORE" mirror clone --key "$VKEY" host:x m.git \
		2>err 3>&- &
	pid=$!
	until [ -s asked ]; do
		kill -0 "$pid"
		sleep 0.05
	done
	kill -TERM "$pid"
	rc=0
	wait "$pid" || rc=$?
	[ "$rc" -eq 143 ]
	grep -qx 'kistore: interrupted' err
	[ ! -e m.git ]
	until ! kill -0 "$(<asked)" 2>/dev/null; do sleep 0.05; done
}

@test "without git it is this machine that is told of" {
	kistore mirror clone --key "$VKEY" demo.git m.git >/dev/null
	mkdir none
	rc=0
	PATH=$PWD/none "$KISTORE" -C m.git mirror update >out 2>err || rc=$?
	[ "$rc" -eq 5 ]
	grep -qx 'kistore: cannot run git: it is not installed' err
	[ ! -s out ]
}
