#!/usr/bin/env bats
# kistore list, stats, records: choosing and counting; verify --index.

load ../lib/common
load ../lib/store

# The 190 runs of fixtures/liger-runs.jsonl, made once and copied.
prepare() {
	export SOURCE_DATE_EPOCH=1787000000 KISTORE_DIR=$PWD/liger.git
	if [ ! -d "$BATS_FILE_TMPDIR/liger.git" ]; then
		kistore init "$BATS_FILE_TMPDIR/liger.git" >/dev/null
		kistore -q -C "$BATS_FILE_TMPDIR/liger.git" put \
			--source "$REPO/fixtures/seeds/closure/source.json" \
			"$REPO/fixtures/liger-runs.jsonl" >/dev/null
	fi
	cp -R "$BATS_FILE_TMPDIR/liger.git" "$KISTORE_DIR"
	INDEX=$KISTORE_DIR/kistore-index.sqlite
}

# How many records a list has.
count() {
	kistore list --fields digest "$@" | wc -l
}

# bundles FILTER: how many of the runs in the fixture jq selects.
bundles() {
	jq -c "select($1) | .run.spec" "$REPO/fixtures/liger-runs.jsonl" |
		sort -u | wc -l
}

# A record with this title and name.
titled() {
	jq -cn --arg t "$1" --arg n "$2" '{
		apiVersion: "kernelindex.dev/v1alpha1",
		kind: "ServingStackRevision",
		metadata: {name: $n, title: $t},
		spec: {project: {name: $n}, revision: {}}}'
}

# Run a command on a terminal of 60 columns.
on_terminal() {
	COLUMNS=60 TERM=xterm NO_COLOR=1 python3 -c 'import os, pty, sys
sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))' "$@" |
		tr -d '\r'
}

# ---- Filters ------------------------------------------------------------------

@test "each filter chooses what its field says" {
	[ "$(count --kind BenchmarkRun)" -eq 190 ]
	[ "$(count --hardware H100)" -eq "$(bundles \
		'.environment.spec.hardware.product | test("H100")')" ]
	[ "$(count --operation liger-rope)" -eq "$(bundles \
		'.operation.metadata.name == "liger-rope"')" ]
	[ "$(count --operation 'Rotary position embedding')" -eq 48 ]
	[ "$(count --operation rope)" -eq 48 ]
	[ "$(count --family rope)" -eq 48 ]
	[ "$(count --dtype bf16)" -eq "$(bundles \
		'[.workload.spec.tensors[].dtype] | index("bf16") != null')" ]
	[ "$(count --language triton)" -eq "$(bundles \
		'.implementation.spec.callable.language == "triton"')" ]
	[ "$(count --architecture sm_90)" -eq "$(bundles \
		'.environment.spec.hardware.architecture == "sm_90"')" ]
	[ "$(count --axis rows=4096)" -eq "$(bundles \
		'.workload.spec.axes.rows == 4096')" ]
	[ "$(count --axis rows=4096 --axis hidden=1024)" -eq "$(bundles \
		'.workload.spec.axes | .rows == 4096 and .hidden == 1024')" ]
	[ "$(count --since 2025)" -eq "$(bundles \
		'.run.spec.observedAt >= "2025"')" ]
	[ "$(count --until 2024-09-03)" -eq "$(bundles \
		'.run.spec.observedAt < "2024-09-04"')" ]
	[ "$(count --since 2024-09-03T15:40:00Z --until 2024-09-03T16:00Z)" \
		-eq "$(bundles '.run.spec.observedAt |
		. >= "2024-09-03T15:40:00.000Z" and
		. <= "2024-09-03T16:00:00.000Z"')" ]
	[ "$(count --source liger-kernel-bench)" -eq 190 ]
	[ "$(count --source 'Liger-Kernel benchmarks')" -eq 190 ]
	[ "$(count --status passed)" -eq 190 ]
	[ "$(count --evidence reported)" -eq 190 ]
	[ "$(count --evidence verified)" -eq 0 ]
}

@test "several values of a field are alternatives, several fields all count" {
	rope=$(count --family rope)
	swiglu=$(count --family swiglu)
	[ "$(count --family rope --family swiglu)" -eq $((rope + swiglu)) ]
	[ "$(count --family rope --hardware H100)" -eq "$(bundles \
		'.operation.spec.family == "rope" and
		(.environment.spec.hardware.product | test("H100"))')" ]
}

@test "hardware is chosen by whole words" {
	[ "$(count --hardware nvidia)" -eq 190 ]
	[ "$(count --hardware 'nvidia a100')" -eq 160 ]
	expect 0 kistore list --hardware A10
	silent_out
	err_has "no record has such a hardware: there are NVIDIA A100, NVIDIA H100"
}

@test "a workload, an implementation or a group is chosen by digits of a digest" {
	expect 0 kistore list --json --limit 1 --family rope
	digest=$(jq -r .digest "$OUT")
	key=$(jq -r .comparison "$OUT")
	workload=$(kistore get "$digest" | jq -r .spec.workloadDigest)
	[ "$(count --workload "$workload")" -eq "$(bundles \
		".run.spec.workloadDigest == \"$workload\"")" ]
	[ "$(count --workload "${workload:7:8}")" -gt 0 ]
	[ "$(count --comparison "${key:7:12}")" -ge 2 ]
	[ "$(kistore list --comparison "$key" --fields comparison |
		sort -u)" = "$key" ]
}

@test "other kinds are listed when they are asked for, by the same filters" {
	[ "$(count --kind OperationSpec)" -eq 6 ]
	[ "$(count --kind operationspec --family rope)" -eq 1 ]
	[ "$(count --kind WorkloadCase --dtype bf16)" -eq "$(jq -c '.workload |
		select([.spec.tensors[].dtype] | index("bf16")) | .spec' \
		"$REPO/fixtures/liger-runs.jsonl" | sort -u | wc -l)" ]
	[ "$(count --kind kistore/v1/Source)" -eq 1 ]
	[ "$(count)" -eq 246 ]
}

@test "--name finds what the field name shows, whatever the kind" {
	printf 'log\n' >run.log
	kistore -q artifact put --describe --name 'Run.log' run.log >/dev/null
	kistore list --json | jq -r 'select(.name) | [.kind, .name] | @tsv' |
		sort -u -k 1,1 >names
	[ "$(wc -l <names)" -ge 8 ]
	while IFS=$'\t' read -r kind name; do
		expect 0 kistore list --name "${name^^}" --json
		jq -es --arg kind "$kind" --arg name "$name" \
			'any(.kind == $kind and .name == $name)' "$OUT"
	done <names
}

@test "a search finds words by their beginning, also those of related records" {
	[ "$(count --text 'rotary' --kind OperationSpec)" -eq 1 ]
	[ "$(count --text 'rotary' --kind BenchmarkRun)" -eq 48 ]
	[ "$(count --text 'ROTARY emb h100' --kind BenchmarkRun)" -eq \
		"$(count --family rope --hardware H100)" ]
	[ "$(count --text 'rope/backward/huggingface')" -gt 0 ]
	expect 2 kistore list --text '"'
	expect 0 kistore list --text ' · '
	silent_out
	for hostile in 'a OR b' 'NEAR(' '"rotary' 'title:x' '-rotary' 'a*b' \
		"a' OR 1=1 --" '^x' '{title} : x'; do
		expect 0 kistore list --text "$hostile"
	done
}

@test "marks choose too, and are shown" {
	run=$(kistore list --family rope --limit 1 --fields digest)
	other=$(kistore list --family rope --limit 2 --fields digest | tail -n 1)
	kistore retract "$run" --reason wrong
	kistore supersede "$other" --by "$run"
	[ "$(count --family rope)" -eq 48 ]
	[ "$(count --family rope --retracted)" -eq 1 ]
	[ "$(count --family rope --no-retracted)" -eq 47 ]
	[ "$(count --family rope --superseded)" -eq 1 ]
	[ "$(count --family rope --no-retracted --no-superseded)" -eq 46 ]
	expect 0 kistore list --retracted --fields digest,state
	out_is "$run	retracted"
	expect 2 kistore list --retracted --no-retracted
	kistore restore "$run" --reason right
	[ "$(count --retracted)" -eq 0 ]
	# Once more with what was taken down.
	kistore takedown "$other" --reason law
	[ "$(count --family rope)" -eq 47 ]
	[ "$(count --text "${other#sha256:}")" -eq 0 ]
}

@test "mistakes are told with what there is, and nothing is printed" {
	expect 2 kistore list --sort colour
	silent_out
	err_has "nothing is sorted by 'colour': it may be digest, kind,"
	expect 2 kistore list --sort value:down
	expect 2 kistore list --fields digest,colour
	err_has "there is no field 'colour': there are digest, kind,"
	expect 2 kistore list --fields ,
	expect 2 kistore list --kind Foo
	err_has "there is no kind 'Foo' here (there are: "
	expect 2 kistore list --kind SoftwareProject --hardware H100
	err_has "records of that kind have no hardware"
	expect 2 kistore list --since yesterday
	expect 2 kistore list --since 2024-13
	expect 2 kistore list --until 2024-02-30
	expect 2 kistore list --axis rows
	expect 2 kistore list --axis rows=many
	expect 2 kistore list --axis =1
	expect 2 kistore list --evidence great
	expect 2 kistore list --comparison xyz
	expect 2 kistore list --hardware ''
	expect 2 kistore list --json --csv
	expect 2 kistore list --limit 0
	expect 2 kistore list REF
	expect 0 kistore list --kind ServingRun
	silent_out
	err_has "no record was chosen"
}

# ---- Order --------------------------------------------------------------------

@test "the order is that of publication, or of a field, ties by digest" {
	kistore list --kind BenchmarkRun --fields digest >default
	git -C "$KISTORE_DIR" cat-file blob HEAD:log/000/000.jsonl | jq -r '
		select(.op == "publish" and (.kind | endswith("/BenchmarkRun")))
		| .digest' | cmp default -
	kistore list --sort value --fields value,digest >sorted
	sort -t"$(printf '\t')" -k1,1g -k2,2 sorted | cmp - sorted
	[ "$(wc -l <sorted)" -eq 190 ]
	kistore list --sort value:desc --fields value >down
	cut -f1 sorted | sort -rg | cmp - down
	kistore list --sort hardware --fields hardware,digest >by-hardware
	LC_ALL=C sort by-hardware | cmp - by-hardware
	kistore list --sort observed:desc --limit 3 --fields observed >newest
	jq -r .run.spec.observedAt "$REPO/fixtures/liger-runs.jsonl" |
		sort -r | head -n 3 | cmp - newest
	for field in digest kind name title operation family implementation \
		project model source hardware vendor architecture dtype \
		language framework license status evidence published metric \
		statistic unit samples external comparison; do
		[ "$field" = implementation ] ||
			expect 0 kistore list --sort "$field" --limit 2
	done
}

@test "what a field has not comes last, whichever way" {
	titled 'Alpha' a | kistore -q put - >/dev/null
	titled '' b | kistore -q put - >/dev/null
	titled 'Beta' c | kistore -q put - >/dev/null
	[ "$(kistore list --kind ServingStackRevision --sort title \
		--fields name | xargs)" = "a c b" ]
	[ "$(kistore list --kind ServingStackRevision --sort title:desc \
		--fields name | xargs)" = "c a b" ]
}

# ---- Forms --------------------------------------------------------------------

@test "--json is an object a line, with every field that the kinds have" {
	expect 0 kistore list --json --family rope --limit 2
	[ "$(wc -l <"$OUT")" -eq 2 ]
	jq -es 'all(.schema == "kistore-list/1" and .family == "rope" and
		(.value | type) == "number" and .status == "passed" and
		.evidence == "reported" and .state == null and
		.verified == false)' "$OUT"
	expect 0 kistore list --json --fields digest,value --limit 1 --family rope
	jq -e 'keys == ["digest", "schema", "value", "verified"]' "$OUT"
	# Values are those of the record itself.
	digest=$(jq -r .digest "$OUT")
	[ "$(jq .value "$OUT")" = "$(kistore get "$digest" |
		jq '.spec.timing.latencyNs.median')" ]
}

@test "--csv is RFC 4180, and nothing in it runs" {
	for title in '=1+1' '+1' '-1' '@SUM(A1)' $'\t=1' $'\r=1' 'a,b' 'a"b' \
		$'two\nlines' 'plain' ' blanks '; do
		titled "$title" "n$((++n))"
	done | kistore -q put - >/dev/null
	expect 0 kistore list --csv --kind ServingStackRevision --fields name,title
	python3 - "$OUT" <<-'END'
	import csv, sys
	data = open(sys.argv[1], newline="").read()
	assert data.count("\r\n") == 12, data
	rows = list(csv.reader(open(sys.argv[1], newline="")))
	assert rows[0] == ["name", "title"]
	assert [row[1] for row in rows[1:]] == ["'=1+1", "'+1", "'-1",
	    "'@SUM(A1)", "'\t=1", "'\r=1", "a,b", 'a"b', "two\nlines", "plain",
	    " blanks "], rows
	END
	# Numbers are numbers.
	kistore list --csv --fields value --family rope --limit 1 |
		grep -qE '^[0-9.]+.$'
}

@test "off a terminal a line has its fields whole, separated by tabs" {
	titled $'tab\there \e[31m and \u202e back' hostile |
		kistore -q put - >/dev/null
	expect 0 kistore list --kind ServingStackRevision --fields name,title
	out_is 'hostile	tab\x09here \x1b[31m and \xe2\x80\xae back'
}

@test "on a terminal the columns fit, whatever a title is made of" {
	need_terminal
	need_command python3
	titled "$(printf '漢字%.0s' {1..60})" wide |
		kistore -q put - >/dev/null
	titled $'\e]0;owned\a\u202eabc\u200b'"$(printf 'e\u0301%.0s' {1..50})" \
		odd | kistore -q put - >/dev/null
	on_terminal "$KISTORE" list --kind ServingStackRevision >shown
	[ "$(wc -l <shown)" -eq 3 ]
	if LC_ALL=C grep -q $'[\001-\010\013-\037\177]' shown; then
		cat -v shown
		return 1
	fi
	python3 - <<-'END'
	import unicodedata
	for line in open("shown", encoding="utf-8"):
	    width = sum(0 if unicodedata.combining(c) else
	        2 if unicodedata.east_asian_width(c) in "WF" else 1
	        for c in line.rstrip("\n"))
	    assert width <= 60, (width, line)
	END
}

# ---- Records ------------------------------------------------------------------

@test "records tell who led each group, and since when" {
	expect 0 kistore records --json --family rope
	jq -es 'all(.schema == "kistore-records/1" and .cause == "new_run" and
		.policy == "ranking-v1") and
		(group_by(.comparison) | all(
			(map(.number) == [range(1; length + 1)]) and
			(map(.leads) | (.[:-1] | any | not) and .[-1]) and
			(map(.value) | . == (sort | reverse | unique | reverse)) and
			(.[0].previous == null) and
			([.[1:][].previous] == [.[:-1][].run])))' "$OUT"
	expect 0 kistore records --leaders --csv
	[ "$(wc -l <"$OUT")" -eq 93 ]
	expect 0 kistore records --limit 1 --family rope
	grep -q '^Rotary position embedding, ' "$OUT"
	[ "$(grep -c 'leads$' "$OUT")" -eq 1 ]
	expect 2 kistore records --kind OperationSpec
	expect 0 kistore records --operation nothing
	silent_out
	err_has "no run that may rank was chosen"
	# Who is retracted never led.
	leader=$(kistore records --json --leaders --limit 1 --family rope |
		jq -r .run)
	kistore retract "$leader" --reason wrong
	[ "$(kistore records --json | jq -r .run | grep -c "$leader")" -eq 0 ]
}

# ---- Counts -------------------------------------------------------------------

@test "stats count by what records say" {
	expect 0 kistore stats --json
	jq -e '.schema == "kistore-stats/1" and .records == 246 and
		(.kind | map(select(.value | endswith("/BenchmarkRun")))[0]
			.records) == 190 and
		(.hardware | map({(.value): .records}) | add) ==
			{"NVIDIA A100": 160, "NVIDIA H100": 30} and
		.groups == 92 and .takenDown == 0 and
		.firstObserved == "2024-09-03T15:31:39.000Z"' "$OUT"
	kistore takedown "$(kistore list --fields digest --limit 1 \
		--family rope)" --reason law
	expect 0 kistore stats
	grep -q '^245 records, and 1 taken down; ' "$OUT"
}

# ---- What is shown is read again ----------------------------------------------

@test "a wrong row shows no wrong record, and does not last" {
	kistore list --family rope >/dev/null
	sqlite3 "$INDEX" "UPDATE record SET environment = (SELECT object FROM
		record r2 WHERE r2.kind = (SELECT number FROM term WHERE
		text LIKE '%ExecutionEnvironment') ORDER BY object DESC LIMIT 1)
		WHERE environment IS NOT NULL"
	expect 5 kistore list --hardware H100
	silent_out
	err_has "kistore-index.sqlite is wrong about sha256:"
	err_has "the next command builds it anew"
	[ "$(count --hardware H100)" -eq 30 ]
}

@test "a wrong value in a related row is found out as well" {
	kistore list --family rope >/dev/null
	sqlite3 "$INDEX" "UPDATE term SET text = 'NVIDIA B200'
		WHERE text = 'NVIDIA A100'"
	expect 5 kistore list --hardware B200
	silent_out
	[ "$(count --hardware B200)" -eq 0 ]
}

@test "a note that belongs to another record is not shown" {
	kistore list >/dev/null
	sqlite3 "$INDEX" "UPDATE object SET metadata = 3 WHERE published = 5"
	expect 5 kistore list
	err_has "is wrong about sha256:"
	expect 0 kistore list
}

@test "a damaged record is told of, and the others are listed" {
	kistore list >/dev/null
	digest=$(kistore list --family rope --fields digest --limit 1)
	printf 'no frame' >bad
	# The log, and so the index, stay what they are.
	replace "$(object_path "$digest")" bad
	expect 1 kistore list --family rope --fields digest
	[ "$(wc -l <"$OUT")" -eq 47 ]
	err_has "$digest: "
	err_has "1 record could not be read: damaged or absent"
	# Tables that were made without it lack it, and say so.
	rm -f "$INDEX"*
	expect 1 kistore list --family rope --fields digest
	[ "$(wc -l <"$OUT")" -eq 47 ]
	err_has "1 record of the store could not be read, and may be missing here"
	err_has "records that could not be read and are left out of what they would be found by: 1 ("
}

@test "what could not be read is read again once it is back" {
	digest=$(kistore list --family rope --fields digest --limit 1)
	git_id=$(git -C "$KISTORE_DIR" rev-parse \
		"HEAD:$(object_path "$digest")")
	mkdir packs
	mv "$KISTORE_DIR"/objects/pack/* packs
	for pack in packs/*.pack; do
		git -C "$KISTORE_DIR" unpack-objects -q <"$pack"
	done
	file=$KISTORE_DIR/objects/${git_id:0:2}/${git_id:2}
	cp "$file" good
	chmod u+w "$file"
	for damage in rm truncate; do
		rm -f "$INDEX"*
		if [ "$damage" = rm ]; then rm "$file"; else : >"$file"; fi
		expect 1 kistore export --format csv --family rope
		[ "$(wc -l <"$OUT")" -eq 48 ]
		err_has "records that could not be read"
		# In place, or as a new file: as many packs as before.
		cat good >"$file"
		expect 0 kistore export --format csv --family rope
		[ "$(wc -l <"$OUT")" -eq 49 ]
		silent_err
	done
}

# ---- The file -----------------------------------------------------------------

@test "verify --index compares the file with a fresh build" {
	expect 0 kistore verify --index
	kistore list --text rope >/dev/null
	expect 0 kistore verify --index
	grep -q '^found nothing wrong$' "$OUT"
	sqlite3 "$INDEX" "UPDATE record SET value = 1 WHERE object = 10;
		DELETE FROM record WHERE object = 20;
		UPDATE object SET flags = 1 WHERE published = 30"
	expect 1 kistore verify --index
	grep -qE '^damage kistore-index.sqlite sha256:[0-9a-f]{64} row of record 10: value is 1.0, must be ' "$OUT"
	grep -q 'row of record 20 is missing' "$OUT"
	grep -q 'row of object 30: flags is 1, must be 0' "$OUT"
	grep -q 'it is derived: remove it, and the next command builds it anew' \
		"$OUT"
	expect 1 kistore verify --index --json
	jq -es 'map(select(.severity == "damage")) | length >= 3' "$OUT"
	# Without --index nothing is said of it.
	expect 0 kistore verify
	rm -f "$INDEX"*
	expect 0 kistore verify --index
	grep -q 'the index not compared: there is none so far' "$OUT"
}

@test "verify --index tells of words that the search lacks" {
	kistore list --text rope >/dev/null
	sqlite3 "$INDEX" "INSERT INTO search(search, rowid, name, title, words)
		SELECT 'delete', object, name, title, words FROM text
		WHERE object = 10"
	expect 1 kistore verify --index
	grep -q 'row of search 10, .* is missing' "$OUT"
}

@test "verify --index of a file that is no database is a finding" {
	kistore list >/dev/null
	rm -f "$INDEX"*
	echo 'no database, but long enough to be looked at' >"$INDEX"
	expect 1 kistore verify --index
	grep -q '^damage kistore-index.sqlite - cannot be used: ' "$OUT"
	[ "$(grep -o 'builds it anew' "$OUT" | wc -l)" -eq 1 ]
	cmp -s "$INDEX" <(echo 'no database, but long enough to be looked at')
}

@test "verify --index does not wait for what is no file" {
	for kind in mkfifo mkdir 'ln -s /dev/zero'; do
		rm -rf "$INDEX"
		$kind "$INDEX"
		expect 1 timeout -k 1 20 "$KISTORE" verify --index
		grep -q '^damage kistore-index.sqlite - cannot be used: it is no regular file' "$OUT"
	done
}

@test "verify --index takes a file that was only begun for none" {
	: >"$INDEX"
	expect 0 kistore verify --index
	grep -q 'the index not compared: there is none so far' "$OUT"
	# A header is all that SQLite had written.
	sqlite3 "$INDEX" 'PRAGMA journal_mode = WAL; VACUUM' >/dev/null
	expect 0 kistore verify --index
	grep -q 'the index not compared: there is none so far' "$OUT"
	[ "$(count)" -gt 190 ]
	expect 0 kistore verify --index
	grep -q '^found nothing wrong$' "$OUT"
}

@test "on read-only media the questions are answered, and nothing is written" {
	unshare -Urm true 2>/dev/null || skip "no user namespaces"
	rm -f "$INDEX"*
	cat >script <<-'END'
	mount --bind "$KISTORE_DIR" "$KISTORE_DIR" || exit 99
	mount -o remount,ro,bind "$KISTORE_DIR" || exit 99
	"$KISTORE" list --text rotary --kind BenchmarkRun --fields digest
	END
	expect 0 unshare -Urm sh script
	[ "$(wc -l <"$OUT")" -eq 48 ]
	silent_err
	[ ! -e "$INDEX" ]
	# The same with a file that was there, but without a catalogue.
	kistore resolve "$(head -n 1 "$OUT")" >/dev/null
	find "$KISTORE_DIR" -printf '%P %s %T@\n' | LC_ALL=C sort >before
	expect 0 unshare -Urm sh script
	[ "$(wc -l <"$OUT")" -eq 48 ]
	find "$KISTORE_DIR" -printf '%P %s %T@\n' | LC_ALL=C sort | diff before -
}

@test "readers at once with a writer: nobody fails, all come to one state" {
	for i in 1 2 3 4 5 6; do
		for j in 1 2 3; do
			kistore list --text rotary --kind BenchmarkRun \
				--fields digest >"list.$i.$j" 2>>errors || echo list >>failed &
		done
		titled "Project $i" "p$i" |
			kistore -q put - >/dev/null 2>>errors || echo put >>failed
		wait
	done
	if [ -e failed ]; then
		cat failed errors
		return 1
	fi
	for file in list.*; do
		[ "$(wc -l <"$file")" -eq 48 ]
	done
	kistore list --text rotary >/dev/null
	expect 0 kistore verify --index
}

@test "an older state is asked in memory" {
	size=$(kistore log | wc -l)
	titled 'Later' later | kistore -q put - >/dev/null
	[ "$(count --kind ServingStackRevision)" -eq 1 ]
	cp "$INDEX" kept
	[ "$(count --kind ServingStackRevision --at "$size")" -eq 0 ]
	cmp "$INDEX" kept
}

# ---- The catalogue ------------------------------------------------------------

@test "counts of the published catalogue agree with its own rows" {
	need_shared data/catalog-2026-08-16-0022af0b.jsonl.zst
	file=$SHARED/data/catalog-2026-08-16-0022af0b.jsonl.zst
	export KISTORE_DIR=$PWD/all.git
	kistore init all.git >/dev/null
	kistore -q put "$file" >/dev/null
	zstd -dcq "$file" | jq -c 'select(.table == "benchmark_runs" or
		.table == "serving_runs" or .table == "sources" or
		.table == "operations" or .table == "workloads" or
		.table == "record_events")' >rows.jsonl
	# What the rows say …
	jq -n '
	reduce inputs as $line ({}; $line.row as $row |
		if $line.table == "sources" then .slug[$row.id] = $row.slug
		elif $line.table == "operations" then
			.family[$row.id] = $row.family
		elif $line.table == "workloads" then
			.operation[$row.id] = $row.operationId |
			.dtypes[$row.id] = $row.dtypes
		elif $line.table == "benchmark_runs" then
			.hardware[$row.hardwareModel] += 1 |
			.status[$row.status] += 1 |
			.source[.slug[$row.sourceId]] += 1 |
			.families[.family[.operation[$row.workloadId]]] += 1 |
			.bf16 += (if .dtypes[$row.workloadId] | index("bf16")
				then 1 else 0 end) |
			.march += (if $row.observedAt | startswith("2026-03")
				then 1 else 0 end)
		elif $line.table == "serving_runs" then
			.hardware[$row.acceleratorModel] += 1 |
			.status[$row.status] += 1 |
			.source[.slug[$row.sourceId]] += 1
		else .events += 1 end)' rows.jsonl >expected
	# … is what is counted,
	expect 0 kistore stats --json
	jq -e --slurpfile e expected '
		(map_values(arrays | map({(.value // "-"): .records}) | add)) as
		$s | $s.hardware == $e[0].hardware and $s.status == $e[0].status and
		$s.source == $e[0].source and
		($s.family | del(.["-"])) == $e[0].families' "$OUT"
	# listed,
	runs=--kind=BenchmarkRun
	[ "$(count $runs --dtype bf16)" -eq "$(jq .bf16 expected)" ]
	[ "$(count $runs --since 2026-03 --until 2026-03)" -eq \
		"$(jq .march expected)" ]
	[ "$(count $runs --family gemm)" -eq "$(jq .families.gemm expected)" ]
	[ "$(count --evidence reproducible)" -eq 175 ]
	# with the same keys and values,
	jq -r 'select(.table == "benchmark_runs") | .row | [.runDigest,
		.comparisonKey, .status, .hardwareModel] | @tsv' rows.jsonl |
		LC_ALL=C sort >want
	kistore list $runs --fields digest,comparison,status,hardware |
		LC_ALL=C sort | cmp want -
	# and led.
	jq -r 'select(.table == "record_events") | .row | [.comparisonKey, .at] |
		@tsv' rows.jsonl | LC_ALL=C sort >want
	[ "$(wc -l <want)" -eq 2948 ]
	kistore records --json | jq -r '[.comparison, .at] | @tsv' |
		LC_ALL=C sort | cmp want -
}
