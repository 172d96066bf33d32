#!/usr/bin/env bats
# kistore status: what a store holds.

load ../lib/common
load ../lib/store

prepare() {
	seed_store
}

# bats test_tags=valgrind
@test "status says where, what and how much" {
	expect 0 kistore status
	silent_err
	diff - "$OUT" <<-END
	directory     $PWD/demo.git/
	origin        none
	commit        $(commit_id)
	branch        refs/heads/main
	log entries   8
	log root      $ROOT
	last entry    2026-08-17T20:53:20Z
	objects       7
	  kernelindex.dev/v1alpha1/BenchmarkProtocol 1
	  kernelindex.dev/v1alpha1/BenchmarkRun 1
	  kernelindex.dev/v1alpha1/ExecutionEnvironment 1
	  kernelindex.dev/v1alpha1/ImplementationRevision 1
	  kernelindex.dev/v1alpha1/OperationSpec 1
	  kernelindex.dev/v1alpha1/SoftwareProject 1
	  kernelindex.dev/v1alpha1/WorkloadCase 1
	packs         2
	dictionaries  0
	checkpoints   0
	not looked at the contents of objects (kistore verify does)
	END
}

@test "retracted and taken-down objects are counted by kind" {
	kistore retract c3252a98 --reason wrong
	kistore takedown "$WORKLOAD" --reason law
	expect 0 kistore status
	grep -q '/BenchmarkRun 1, 1 retracted$' "$OUT"
	grep -q '/WorkloadCase 1, 1 taken down$' "$OUT"
	expect 0 kistore status --json
	jq -e '.schema == "kistore-status/1" and .objects == 7 and
		(.kinds | map(.retracted) | add) == 1 and
		(.kinds | map(.takenDown) | add) == 1' "$OUT"
}

@test "--json has size, root and origin" {
	kistore init --origin example.org/log named.git
	expect 0 kistore -C named.git status --json
	jq -e '.origin == "example.org/log" and .log.size == 1 and
		.log.faults == 0 and .shallow == false and
		.notCovered == null' "$OUT"
}

@test "--at is an earlier state" {
	kistore retract c3252a98 --reason wrong
	expect 0 kistore status --at 8
	grep -qx 'log entries   8' "$OUT"
	for at in 9 HEAD main "$(commit_id)" 2026-08-18; do
		expect 0 kistore status --at "$at"
		grep -qx 'log entries   9' "$OUT"
	done
	for at in 5 1999-01-01 nothing; do
		expect 3 kistore status --at "$at"
		silent_out
	done
}

@test "files that kistore does not cover are named" {
	echo text >LICENSE
	replace LICENSE LICENSE
	expect 0 kistore status
	grep -qx 'not covered   LICENSE' "$OUT"
}

@test "a log with a fault is told of" {
	{ git -C demo.git show HEAD:log/000/000.jsonl; echo '{}'; } >bad
	replace log/000/000.jsonl bad
	expect 0 kistore status
	grep -qx 'faulty        1' "$OUT"
	err_has "kistore verify names them"
}

@test "a shallow clone is told of" {
	git clone -q --bare --depth 1 "file://$PWD/demo.git" shallow.git
	expect 0 kistore -C shallow.git status
	grep -q '^clone         shallow' "$OUT"
}

@test "the store is found from below a work tree" {
	kistore init --worktree work
	unset KISTORE_DIR
	mkdir -p work/deep/down
	cd work/deep/down
	expect 0 kistore status
	grep -qx 'log entries   1' "$OUT"
}

@test "what is no store is status 3" {
	unset KISTORE_DIR
	mkdir plain
	cd plain
	expect 3 kistore status
	silent_out
	[ "$(wc -l <"$ERR")" -eq 1 ]
}

@test "another format is status 8" {
	echo '{"format":"kistore/9"}' | tr -d '\n' >store.json
	replace store.json store.json
	expect 8 kistore status
	silent_out
}
