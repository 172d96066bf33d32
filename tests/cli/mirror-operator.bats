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
