#!/usr/bin/env bats
# kistore log: entries, for people and for programs.

load ../lib/common
load ../lib/store

prepare() {
	seed_store
}

# bats test_tags=valgrind
@test "--root prints size and root" {
	expect 0 kistore log --root
	silent_err
	out_is "8 $ROOT"
	expect 0 kistore log --root --json
	jq -e --arg root "$ROOT" '. == {schema: "kistore-log-root/1", size: 8,
		root: $root, time: "2026-08-17T20:53:20Z", verified: false}' "$OUT"
}

@test "--root --at is the root of an earlier state" {
	kistore retract c3252a98 --reason wrong
	expect 0 kistore log --root --at 8
	out_is "8 $ROOT"
	expect 2 kistore log --root c3252a98
	silent_out
}

@test "entries are a line each" {
	expect 0 kistore log
	silent_err
	cut -c1-75 "$OUT" >columns
	diff - columns <<-'END'
	0 2026-08-17T20:53:20Z init      kistore/1
	1 2026-08-17T20:53:20Z publish   90c9e2764222 ExecutionEnvironment liger-be
	2 2026-08-17T20:53:20Z publish   e655a9562986 OperationSpec liger-rope
	3 2026-08-17T20:53:20Z publish   459baf6556e5 ImplementationRevision liger-
	4 2026-08-17T20:53:20Z publish   1e8503b1cc39 SoftwareProject transformers
	5 2026-08-17T20:53:20Z publish   080e6e66e4ec BenchmarkProtocol liger-bench
	6 2026-08-17T20:53:20Z publish   c66457140cb6 WorkloadCase liger-rope-hidde
	7 2026-08-17T20:53:20Z publish   c3252a98ba48 BenchmarkRun liger-rope-backw
	END
}

@test "a reference asks for the entries of one object" {
	kistore retract c3252a98 --reason $'two\nlines'
	kistore supersede transformers --by transformers || true
	kistore restore c3252a98 --reason 'was right'
	expect 0 kistore log c3252a98
	[ "$(wc -l <"$OUT")" -eq 3 ]
	sed -n 2,3p "$OUT" >rest
	diff - rest <<-'END'
	8 2026-08-17T20:53:20Z retract   c3252a98ba48 two\x0alines
	9 2026-08-17T20:53:20Z restore   c3252a98ba48 was right
	END
}

@test "FROM..TO asks for entries FROM to TO - 1" {
	expect 0 kistore log 3..5
	[ "$(cut -d' ' -f1 "$OUT" | tr '\n' ' ')" = "3 4 " ]
	expect 0 kistore log ..2
	[ "$(cut -d' ' -f1 "$OUT" | tr '\n' ' ')" = "0 1 " ]
	for range in 6 6..; do
		expect 0 kistore log $range
		[ "$(cut -d' ' -f1 "$OUT" | tr '\n' ' ')" = "6 7 " ]
	done
	expect 0 kistore log 8
	silent_out
	expect 0 kistore log c3252a98 0..7
	silent_out
}

@test "ranges that make no sense are refused" {
	for range in 5..3 1...2 1.2 99999999999999999999 ...; do
		expect 2 kistore log "$range"
		silent_out
	done
	expect 2 kistore log 1..2 3..4
	expect 2 kistore log c3252a98 e655a956
	expect 3 kistore log nothing
	expect 3 kistore log ''
}

@test "--json carries each line as it is stored" {
	expect 0 kistore log --json
	silent_err
	jq -c .entry "$OUT" >entries
	git -C demo.git show HEAD:log/000/000.jsonl | diff - entries
	jq -es 'map(.index) == [0, 1, 2, 3, 4, 5, 6, 7]' "$OUT"
}

@test "a redacted line is told as such" {
	leaf=$({ printf '\0'; git -C demo.git show HEAD:log/000/000.jsonl |
		sed -n 7p | tr -d '\n'; } | sha256sum | cut -c1-64)
	kistore takedown "$WORKLOAD" --lines --reason law
	expect 0 kistore log 6..7
	out_is "6 -                    redacted  leaf ${leaf:0:12}"
	expect 0 kistore log --json 6..7
	jq -e --arg leaf "$leaf" '. == {schema: "kistore-log/1", index: 6,
		redacted: $leaf, verified: false}' "$OUT"
}

@test "a damaged line is told as such, and cannot spoil the JSON" {
	git -C demo.git show HEAD:log/000/000.jsonl >lines
	{ cat lines; printf '{"at":1,\033[31m\n'; } >bad
	replace log/000/000.jsonl bad
	expect 0 kistore log 8..
	out_is "8 -                    damaged"
	expect 0 kistore log --json 8..
	jq -e '.index == 8 and .damaged == "{\"at\":1,\u001b[31m"' "$OUT"
}
