#!/usr/bin/env bats
# kistore init: a new, empty store.

load ../lib/common
load ../lib/store

# bats test_tags=valgrind
@test "init makes a bare repository and says what it made" {
	expect 0 kistore init data.git
	silent_err
	out_is "data.git: a new store, format kistore/1, bare"
	[ "$(git -C data.git rev-parse --is-bare-repository)" = true ]
	git -C data.git fsck --strict
}

@test "the log of a new store has the init entry, dated by SOURCE_DATE_EPOCH" {
	empty_store
	expect 0 git -C demo.git show HEAD:log/000/000.jsonl
	out_is '{"at":"2026-08-17T20:53:20Z","format":"kistore/1","op":"init"}'
	[ "$(git -C demo.git log -1 --format=%ct)" = 1787000000 ]
}

@test "store.json holds the format, and the origin when one is given" {
	kistore init a.git
	[ "$(git -C a.git show HEAD:store.json)" = '{"format":"kistore/1"}' ]
	expect 0 kistore init --origin example.org/log b.git
	out_is "b.git: a new store, format kistore/1, bare, origin example.org/log"
	[ "$(git -C b.git show HEAD:store.json)" = \
		'{"format":"kistore/1","origin":"example.org/log"}' ]
}

@test "--worktree checks the files out" {
	expect 0 kistore init --worktree data
	[ -f data/store.json ] && [ -f data/log/000/000.jsonl ]
	[ "$(git -C data status --porcelain)" = "" ]
	(cd data && kistore log --root)
}

@test "--json says the same" {
	expect 0 kistore init --json --origin x data.git
	silent_err
	jq -e '. == {schema: "kistore-init/1", directory: "data.git",
		format: "kistore/1", origin: "x", bare: true}' "$OUT"
}

@test "an existing store is not touched" {
	empty_store
	before=$(commit_id)
	expect 5 kistore init demo.git
	silent_out
	[ "$(commit_id)" = "$before" ]
}

@test "a directory with something in it is not touched" {
	mkdir full
	echo x >full/file
	expect 5 kistore init full
	silent_out
	[ "$(ls -A full)" = file ]
}

@test "an origin that no key could have is refused, and nothing is made" {
	for origin in '' 'a b' 'a+b' cosignature/x; do
		expect 2 kistore init --origin "$origin" data.git
		silent_out
		[ ! -e data.git ]
	done
}

@test "a malformed SOURCE_DATE_EPOCH is refused, and nothing is made" {
	for value in x -1 1.5 ' 1' 999999999999999; do
		SOURCE_DATE_EPOCH=$value expect 2 kistore init data.git
		silent_out
		err_has "SOURCE_DATE_EPOCH is not a number of seconds"
		[ ! -e data.git ]
	done
}

@test "init needs exactly one directory" {
	expect 2 kistore init
	expect 2 kistore init a b
	[ ! -e a ]
}
